#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>

#include "python/binding/arrays.h"
#include "python/binding/bindings.h"
#include "python/binding/job.h"
#include "residua/base/error.h"
#include "residua/files/verify_file.h"
#include "residua/measure/measure.h"
#include "residua/release/release.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

std::shared_ptr<const Release> LoadRelease(const std::filesystem::path& path) {
  return RunJob([&](const Job& job) { return Release::Load(path, job.stop.get_token()); });
}

void SaveRelease(const Release& release, const std::filesystem::path& path) {
  RunJob([&](const Job&) {
    release.Save(path);
    return 0;
  });
}

nb::list TablesOf(const Release& release, const std::vector<AttributeSet>& tables,
                  const std::string& answers) {
  const AnswerKind kind = ParseAnswerKind(answers);
  std::vector<TableNumbers> numbers =
      RunJob([&](const Job&) { return release.Tables(tables, kind); });
  nb::list result;
  for (TableNumbers& table : numbers) {
    result.append(nb::make_tuple(ToNumpy(std::move(table.estimates)),
                                 ToNumpy(std::move(table.variances)), table.half_step));
  }
  return result;
}

// A question in words, and attributes with a weight for each cell.
using Question = std::pair<std::string, std::vector<std::pair<std::string, std::vector<double>>>>;

ProductQuery QueryOf(const Release& release, const Question& question) {
  const Domain& domain = release.plan().domain;
  std::vector<AttributeWeights> factors = release.Question(question.first).factors();
  for (const auto& [name, weights] : question.second) {
    factors.push_back({FindAttribute(domain, name), weights});
  }
  return ProductQuery(domain, std::move(factors));
}

nb::tuple AnswerQuestion(const Release& release, const Question& question) {
  const Estimate estimate = release.Answer(QueryOf(release, question));
  return nb::make_tuple(estimate.value, estimate.variance, estimate.half_step);
}

double CovarianceOfQuestions(const Release& release, const Question& a, const Question& b) {
  return release.Covariance(QueryOf(release, a), QueryOf(release, b));
}

// In 64 bits, or as texts of the digits where those are too few; as doubles, divided by the scale,
// where the set was measured on a finer lattice.
nb::object ResidualValues(const Release& release, const AttributeSet& set) {
  for (const NoisyResidual& residual : release.residuals()) {
    if (residual.attributes != set) continue;
    if (residual.scale_bits > 0) {
      return std::visit(
          [&](const auto& values) {
            std::vector<double> unscaled;
            for (const auto value : values) {
              unscaled.push_back(std::ldexp(static_cast<double>(value), -residual.scale_bits));
            }
            return nb::cast(ToNumpy(std::move(unscaled)));
          },
          residual.values);
    }
    if (const auto* narrow = std::get_if<std::vector<int64_t>>(&residual.values)) {
      return nb::cast(ToNumpy(std::vector<int64_t>(*narrow)));
    }
    nb::list wide;
    for (const Int128 value : std::get<std::vector<Int128>>(residual.values)) {
      wide.append(fmt::format("{}", value));
    }
    return wide;
  }
  Fail(ErrorKind::kBadInput, "the table {} was not measured", SetName(release.plan().domain, set));
}

std::optional<std::pair<double, double>> RatioOf(std::pair<double, double> a,
                                                 std::pair<double, double> b, double covariance,
                                                 double confidence) {
  const auto interval =
      RatioInterval({a.first, a.second}, {b.first, b.second}, covariance, confidence);
  if (!interval) return std::nullopt;
  return std::pair(interval->lower, interval->upper);
}

void Verify(const std::filesystem::path& path) {
  RunJob([&](const Job&) {
    VerifyFile(path);
    return 0;
  });
}

}  // namespace

void BindReleases(nb::module_& module) {
  nb::class_<Release>(module, "Release")
      .def("plan", [](const Release& release) { return release.plan_file(); })
      .def("save", &SaveRelease, nb::arg("path"))
      .def("tables", &TablesOf, nb::arg("tables"), nb::arg("answers"))
      .def("answer", &AnswerQuestion, nb::arg("question"))
      .def("covariance", &CovarianceOfQuestions, nb::arg("a"), nb::arg("b"))
      .def("residual", &ResidualValues, nb::arg("attributes"))
      .def(
          "residual_variance",
          [](const Release& release, const AttributeSet& set) {
            return ToString(IntegerNoiseVariance(release.plan(), set));
          },
          nb::arg("attributes"));
  module.def("load_release", &LoadRelease, nb::arg("path"));
  module.def("verify_file", &Verify, nb::arg("path"));
  module.def("quantile", &TwoSidedQuantile, nb::arg("confidence"));
  module.def("interval_widening", &IntervalWidening, nb::arg("quantile"), nb::arg("least_variance"),
             nb::arg("half_step"));
  module.def("ratio", &RatioOf, nb::arg("a"), nb::arg("b"), nb::arg("covariance"),
             nb::arg("confidence"));
}

}  // namespace residua::python
