#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "python/binding/arrays.h"
#include "python/binding/bindings.h"
#include "python/binding/job.h"
#include "residua/base/error.h"
#include "residua/files/measurement_file.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_batches.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/question_text.h"

namespace residua::python {
namespace {

namespace nb = nanobind;

std::vector<ResidualView> ViewsOf(const std::vector<NoisyResidual>& residuals) {
  std::vector<ResidualView> views;
  views.reserve(residuals.size());
  for (const NoisyResidual& residual : residuals) views.push_back(ViewOf(residual));
  return views;
}

// Files of older versions have them in another order.
std::vector<NoisyResidual> InPlanOrder(std::vector<NoisyResidual> residuals) {
  std::sort(residuals.begin(), residuals.end(), [](const NoisyResidual& a, const NoisyResidual& b) {
    return ListedBefore(a.attributes, b.attributes);
  });
  return residuals;
}

std::shared_ptr<Release> LoadRelease(const std::filesystem::path& path) {
  return RunJob([&](const Job& job) {
    const MeasurementFile file(path);
    std::vector<NoisyResidual> residuals;
    file.ForEach([&](NoisyResidual&& residual) {
      if (job.stop.stop_requested()) Fail(ErrorKind::kStopped, "{}: not read", path.string());
      residuals.push_back(std::move(residual));
    });
    return std::make_shared<Release>(file.plan_file(), std::move(residuals));
  });
}

// Written like any file that residua measured; its plan names no data, which may be anywhere now.
void SaveRelease(const Release& release, const std::filesystem::path& path) {
  if (std::filesystem::exists(path)) {
    Fail(ErrorKind::kRefused,
         "{}: exists already; a measurement is paid for and not overwritten, choose another path",
         path.string());
  }
  RunJob([&](const Job&) {
    MeasurementWriter writer(path, {release.plan(), {}});
    for (const NoisyResidual& residual : release.residuals()) writer.Write(residual);
    writer.Finish();
    return 0;
  });
}

// A table as it is published, one number an answer; a single variance stands for all.
struct TableNumbers {
  std::vector<double> estimates;
  std::vector<double> variances;
};

std::vector<TableNumbers> ReconstructAnswers(const Release& release,
                                             const std::vector<AttributeSet>& tables,
                                             const std::string& answers) {
  const std::vector<AxisAnswers> all_axes = AxesOf(release.plan(), ParseAnswerKind(answers));
  std::vector<TableNumbers> numbers(tables.size());
  ReconstructTables(release.index(), tables, {}, [&](size_t t, std::span<const double> counts) {
    std::vector<const AxisAnswers*> axes;
    for (const int i : tables[t]) axes.push_back(&all_axes[static_cast<size_t>(i)]);
    numbers[t].variances = AnswerVariances(release.index(), tables[t], axes);
    if (numbers[t].variances.size() == 1) {
      numbers[t].estimates.assign(counts.begin(), counts.end());
    } else {
      numbers[t].estimates = AnswerTable(counts, axes);
    }
  });
  return numbers;
}

nb::list TablesOf(const Release& release, const std::vector<AttributeSet>& tables,
                  const std::string& answers) {
  std::vector<TableNumbers> numbers =
      RunJob([&](const Job&) { return ReconstructAnswers(release, tables, answers); });
  nb::list result;
  for (TableNumbers& table : numbers) {
    result.append(
        nb::make_tuple(ToNumpy(std::move(table.estimates)), ToNumpy(std::move(table.variances))));
  }
  return result;
}

// A question in words, and attributes with a weight for each cell.
using Question = std::pair<std::string, std::vector<std::pair<std::string, std::vector<double>>>>;

ProductQuery QueryOf(const Release& release, const Question& question) {
  const Domain& domain = release.plan().domain;
  std::vector<AttributeWeights> factors = ParseQuestion(question.first, domain).factors();
  for (const auto& [name, weights] : question.second) {
    factors.push_back({FindAttribute(domain, name), weights});
  }
  return ProductQuery(domain, std::move(factors));
}

std::pair<double, double> AnswerQuestion(const Release& release, const Question& question) {
  const Estimate estimate = Answer(release.index(), QueryOf(release, question));
  return {estimate.value, estimate.variance};
}

double CovarianceOfQuestions(const Release& release, const Question& a, const Question& b) {
  return Covariance(release.index(), QueryOf(release, a), QueryOf(release, b));
}

// In 64 bits, or as texts of the digits where those are too few.
nb::object ResidualValues(const Release& release, const AttributeSet& set) {
  for (const NoisyResidual& residual : release.residuals()) {
    if (residual.attributes != set) continue;
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

void VerifyRelease(const std::filesystem::path& path) {
  RunJob([&](const Job&) {
    VerifyMeasurements(MeasurementFile(path));
    return 0;
  });
}

}  // namespace

Release::Release(PlanFile plan, std::vector<NoisyResidual> residuals)
    : plan_(std::move(plan)),
      residuals_(InPlanOrder(std::move(residuals))),
      index_(plan_.plan.domain, BasisOfAttributes(plan_.plan), ViewsOf(residuals_)) {}

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
  module.def("verify_release", &VerifyRelease, nb::arg("path"));
  module.def("quantile", &TwoSidedQuantile, nb::arg("confidence"));
  module.def("ratio", &RatioOf, nb::arg("a"), nb::arg("b"), nb::arg("covariance"),
             nb::arg("confidence"));
}

}  // namespace residua::python
