#include "residua/release/warnings.h"

#include "residua/base/counted.h"
#include "residua/base/number_text.h"
#include "residua/privacy/suspicion.h"
#include "residua/release/expected_errors.h"

namespace residua {
namespace {

using Kind = ReleaseWarning::Kind;

std::optional<ReleaseWarning> NoiseWarning(const Plan& plan, double num_rows) {
  double num_answers = 0;
  double num_noisy = 0;
  for (const ExpectedErrors& table : ExpectErrors(plan, num_rows)) {
    const double answers = table.errors.num_tables * table.errors.num_answers;
    num_answers += answers;
    if (table.is_mostly_noise()) num_noisy += answers;
  }
  if (2 * num_noisy <= num_answers) return std::nullopt;
  return ReleaseWarning{Kind::kMostlyNoise, num_noisy, num_answers};
}

}  // namespace

Words WarningWords(const ReleaseWarning& warning) {
  switch (warning.kind) {
    case Kind::kLargeEpsilon:
      return WordsOf(
          "epsilon is {}, and above {} the promise is weak: in the worst case a suspicion of 50 % "
          "grows to {}",
          TextAbove(warning.value), warning.limit,
          PercentAbove(GrownSuspicion(0.5, warning.value)));
    case Kind::kLargeDelta:
      return WordsOf(
          "delta is {}, and 1 / number of rows is {:.3g}: with such a delta a release may reveal "
          "whole rows; choose a delta well below that",
          DeltaText(warning.value), warning.limit);
    case Kind::kMostlyNoise:
      return WordsOf(
          "most answers will be mostly noise: {:.15g} of {:.15g} answers are in tables whose "
          "standard deviation is above the average count; ask for fewer or coarser tables, or "
          "spend more",
          warning.value, warning.limit);
    case Kind::kRowsLeftOut:
      return WordsOf(
          "{:.15g} of {} are left out, because they have values without a cell; widen the domain, "
          "or count such values with {} and {}",
          warning.value, Counted(static_cast<int64_t>(warning.limit), "row"),
          Phrase{Phrase::Kind::kSetting, {"null", "true"}},
          Phrase{Phrase::Kind::kSetting, {"outside", "\"null\""}});
  }
  RESIDUA_CHECK(false);
}

std::vector<ReleaseWarning> WarningsOf(const Plan& plan, std::optional<int64_t> num_rows) {
  std::vector<ReleaseWarning> warnings;
  const Guarantee guarantee = GuaranteeOf(plan);
  if (!(guarantee.epsilon <= kLargeEpsilon)) {
    warnings.push_back({Kind::kLargeEpsilon, guarantee.epsilon, kLargeEpsilon});
  }
  if (!num_rows || *num_rows < 1) return warnings;
  const auto rows = static_cast<double>(*num_rows);
  if (!(guarantee.delta < 1 / rows)) {
    warnings.push_back({Kind::kLargeDelta, guarantee.delta, 1 / rows});
  }
  if (const auto noise = NoiseWarning(plan, rows)) warnings.push_back(*noise);
  return warnings;
}

std::vector<ReleaseWarning> WarningsOf(const ReadReport& report) {
  if (report.num_rows_dropped <= report.num_rows_read / 10) return {};
  return {{Kind::kRowsLeftOut, static_cast<double>(report.num_rows_dropped),
           static_cast<double>(report.num_rows_read)}};
}

}  // namespace residua
