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
#include <span>

#include "python/binding/arrays.h"
#include "python/binding/bindings.h"
#include "python/binding/job.h"
#include "python/binding/words.h"
#include "residua/base/counted.h"
#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/files/table_files.h"
#include "residua/files/verify_file.h"
#include "residua/measure/measure.h"
#include "residua/reconstruct/mean_estimate.h"
#include "residua/release/combine.h"
#include "residua/release/page.h"
#include "residua/release/release.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/question_text.h"

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

// All numbers of the tables one after the other: estimates, standard deviations and how far the
// intervals reach; and the number of answers of each table.
nb::tuple LongTables(const Release& release, const std::vector<AttributeSet>& tables,
                     const std::string& answers, double confidence) {
  const AnswerKind kind = ParseAnswerKind(answers);
  const double quantile = TwoSidedQuantile(confidence);
  struct Columns {
    std::vector<double> estimates, std_devs, reaches;
    std::vector<int64_t> sizes;
  };
  Columns columns = RunJob([&](const Job& job) {
    Columns made;
    // So many at a time that their numbers take little memory beside the columns.
    constexpr size_t kBatch = 4096;
    for (size_t begin = 0; begin < tables.size(); begin += kBatch) {
      CheckNotStopped(job.stop.get_token());
      const size_t end = std::min(tables.size(), begin + kBatch);
      const std::span<const AttributeSet> batch(tables.data() + begin, end - begin);
      for (const TableNumbers& table : release.Tables(batch, kind)) {
        const size_t size = table.estimates.size();
        made.sizes.push_back(static_cast<int64_t>(size));
        made.estimates.insert(made.estimates.end(), table.estimates.begin(), table.estimates.end());
        const double least = *std::min_element(table.variances.begin(), table.variances.end());
        const double widening =
            table.half_step > 0 ? IntervalWidening(quantile, least, table.half_step) : 0;
        for (size_t k = 0; k < size; ++k) {
          made.std_devs.push_back(std::sqrt(table.variances[table.variances.size() == 1 ? 0 : k]));
          made.reaches.push_back(quantile * made.std_devs.back() + widening);
        }
      }
    }
    return made;
  });
  return nb::make_tuple(ToNumpy(std::move(columns.estimates)), ToNumpy(std::move(columns.std_devs)),
                        ToNumpy(std::move(columns.reaches)), ToNumpy(std::move(columns.sizes)));
}

// Adjusted tables, and how far an answer may be from the most likely one, in standard deviations.
nb::tuple AdjustedTablesOf(const Release& release, const std::vector<AttributeSet>& tables,
                           const std::string& answers, bool nonnegative, bool integers) {
  const AnswerKind kind = ParseAnswerKind(answers);
  AdjustedTables adjusted = RunJob([&](const Job&) {
    return release.Adjusted(tables, kind, {nonnegative, integers});
  });
  nb::list answers_of_tables;
  for (std::vector<double>& values : adjusted.answers) {
    answers_of_tables.append(ToNumpy(std::move(values)));
  }
  return nb::make_tuple(answers_of_tables, adjusted.max_deviation);
}

// Whether both are one measurement, wherever they were read from.
bool IsSame(const Release& a, const Release& b) {
  if (&a == &b) return true;
  if (a.plan() != b.plan() || a.residuals().size() != b.residuals().size()) return false;
  for (size_t k = 0; k < a.residuals().size(); ++k) {
    const NoisyResidual& left = a.residuals()[k];
    const NoisyResidual& right = b.residuals()[k];
    if (left.attributes != right.attributes || left.scale_bits != right.scale_bits ||
        left.values != right.values) {
      return false;
    }
  }
  return true;
}

// One release of the best estimates of several, and what could not be combined, in words.
nb::tuple CombineReleases(const std::vector<std::shared_ptr<const Release>>& releases,
                          bool same_data) {
  CombinedRelease combined = RunJob([&](const Job& job) {
    return Combine(releases, {same_data, job.stop.get_token()});
  });
  auto notes = Worded(combined.report, combined.release->plan());
  return nb::make_tuple(std::move(combined.release), std::move(notes));
}

// A question in words, and attributes with a weight for each cell.
using Question = std::pair<std::string, std::vector<std::pair<std::string, std::vector<double>>>>;

ProductQuery QueryOf(const Release& release, const Question& question) {
  const Domain& domain = release.plan().domain;
  const AnyQuestion asked = ParseAnyQuestion(question.first, domain);
  const auto* query = std::get_if<ProductQuery>(&asked);
  if (query == nullptr) {
    Fail(ErrorKind::kBadInput,
         "'{}' asks for a mean; ask Release.mean for it, and compare two means with Mean.minus",
         question.first);
  }
  std::vector<AttributeWeights> factors = query->factors();
  for (const auto& [name, weights] : question.second) {
    factors.push_back({FindAttribute(domain, name), weights});
  }
  return ProductQuery(domain, std::move(factors));
}

// The columns of tables with a mean: counts, their standard deviations, sums, theirs, and means with
// theirs and the ends of their intervals.
nb::list MeanTablesOf(const Release& release, const std::vector<AttributeSet>& tables,
                      const std::string& answers, double quantile) {
  const AnswerKind kind = ParseAnswerKind(answers);
  std::vector<MeanColumns> made =
      RunJob([&](const Job&) { return release.MeanTables(tables, kind, quantile); });
  nb::list result;
  for (MeanColumns& columns : made) {
    result.append(nb::make_tuple(
        ToNumpy(std::move(columns.counts)), ToNumpy(std::move(columns.count_std_devs)),
        ToNumpy(std::move(columns.sums)), ToNumpy(std::move(columns.sum_std_devs)),
        ToNumpy(std::move(columns.means)), ToNumpy(std::move(columns.mean_std_devs)),
        ToNumpy(std::move(columns.mean_lower)), ToNumpy(std::move(columns.mean_upper))));
  }
  return result;
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
    const int64_t steps = RowSteps(release.plan().domain, set);
    if (residual.scale_bits > 0 || steps > 1) {
      return std::visit(
          [&](const auto& values) {
            std::vector<double> unscaled;
            for (const auto value : values) {
              unscaled.push_back(std::ldexp(static_cast<double>(value), -residual.scale_bits) /
                                 static_cast<double>(steps));
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

// The interval of a mean; nothing where there are too few rows.
std::optional<std::pair<double, double>> MeanIntervalOf(std::pair<double, double> range,
                                                        std::pair<double, double> sum,
                                                        std::pair<double, double> count,
                                                        double covariance, double confidence) {
  const auto mean =
      EstimateMean({range.first, range.second}, {sum.first, sum.second},
                   {count.first, count.second}, covariance, TwoSidedQuantile(confidence));
  if (!mean) return std::nullopt;
  return std::pair(mean->interval.lower, mean->interval.upper);
}

// Writes the page of the release, which is also in the file `measurements`. `spec` has its texts,
// and may be null. Returns the size of the page, how many tables it shows, and those left out.
nb::tuple WritePageOf(const Release& release, const std::filesystem::path& measurements,
                      const std::filesystem::path& output, const Spec* spec, int64_t max_bytes,
                      double confidence) {
  PageRequest request{.measurements = measurements, .output = output};
  request.is_query = !release.plan_file().data.query.empty();
  if (spec != nullptr) {
    request.text = spec->release;
    request.is_query = request.is_query || !spec->data.query.empty();
  }
  request.max_bytes = max_bytes;
  request.confidence = confidence;
  const PageWritten written = RunJob([&](const Job&) { return WritePage(request); });
  return nb::make_tuple(written.num_bytes, written.num_tables, written.left_out);
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
      .def("page", &WritePageOf, nb::arg("measurements"), nb::arg("output"), nb::arg("spec").none(),
           nb::arg("max_bytes"), nb::arg("confidence"))
      .def("tables", &TablesOf, nb::arg("tables"), nb::arg("answers"))
      .def("mean_tables", &MeanTablesOf, nb::arg("tables"), nb::arg("answers"), nb::arg("quantile"))
      .def("long_tables", &LongTables, nb::arg("tables"), nb::arg("answers"), nb::arg("confidence"))
      .def("adjusted_tables", &AdjustedTablesOf, nb::arg("tables"), nb::arg("answers"),
           nb::arg("nonnegative"), nb::arg("integers"))
      .def("is_same", &IsSame, nb::arg("other"), nb::call_guard<nb::gil_scoped_release>())
      .def("shares_noise", &ShareNoise, nb::arg("other"), nb::call_guard<nb::gil_scoped_release>())
      .def("identity", [](const Release& release) { return release.plan_file().data.identity; })
      .def("answer", &AnswerQuestion, nb::arg("question"))
      .def("covariance", &CovarianceOfQuestions, nb::arg("a"), nb::arg("b"))
      .def(
          "mean_range",
          [](const Release& release, const Question& sum) {
            const Interval range = RangeOfMean(release.plan().domain, QueryOf(release, sum));
            return std::pair(range.lower, range.upper);
          },
          nb::arg("sum"))
      .def("residual", &ResidualValues, nb::arg("attributes"))
      .def(
          "residual_variance",
          [](const Release& release, const AttributeSet& set) {
            return ToString(IntegerNoiseVariance(release.plan(), set));
          },
          nb::arg("attributes"));
  module.attr("default_page_bytes") = kDefaultPageBytes;
  module.attr("mean_note") = kMeanNote;
  module.def("load_release", &LoadRelease, nb::arg("path"));
  module.def("combine", &CombineReleases, nb::arg("releases"), nb::arg("same_data"));
  module.def("verify_file", &Verify, nb::arg("path"));
  module.def("quantile", &TwoSidedQuantile, nb::arg("confidence"));
  module.def("interval_widening", &IntervalWidening, nb::arg("quantile"), nb::arg("least_variance"),
             nb::arg("half_step"));
  module.def("mean_interval", &MeanIntervalOf, nb::arg("range"), nb::arg("sum"), nb::arg("count"),
             nb::arg("covariance"), nb::arg("confidence"));
  module.def("ratio", &RatioOf, nb::arg("a"), nb::arg("b"), nb::arg("covariance"),
             nb::arg("confidence"));
}

}  // namespace residua::python
