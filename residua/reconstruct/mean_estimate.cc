#include "residua/reconstruct/mean_estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residua/base/error.h"
#include "residua/reconstruct/table_answers.h"

namespace residua {
namespace {

// The answers along a MeanAxis; the last is there if missing values have a cell.
enum MeanAnswer : size_t { kAtLow, kAtHigh, kCount, kMissing };

constexpr Interval kUnbounded{-std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::infinity()};

// What is left of `interval` in `range`; see MeanEstimate.
Interval Within(const Interval& range, const Interval& interval) {
  const double width = interval.upper - interval.lower;
  if (interval.upper < range.lower) {
    return {range.lower, std::min(range.lower + width, range.upper)};
  }
  if (interval.lower > range.upper) {
    return {std::max(range.upper - width, range.lower), range.upper};
  }
  return {std::max(interval.lower, range.lower), std::min(interval.upper, range.upper)};
}

bool HasNegative(const AttributeWeights& factor) {
  const auto* weights = std::get_if<std::vector<double>>(&factor.weights);
  return weights != nullptr && std::ranges::any_of(*weights, [](double w) { return w < 0; });
}

// Of each answer along the other axes, whether it adds up rows, and subtracts none. Other queries
// than custom ones never do.
std::vector<char> OnlyAdds(std::span<const AxisAnswers* const> axes, size_t mean_axis) {
  std::vector<char> only_adds = {1};
  for (size_t k = 0; k < axes.size(); ++k) {
    if (k == mean_axis) continue;
    const QueryMatrix& queries = axes[k]->queries;
    std::vector<char> along(static_cast<size_t>(queries.num_answers()), 1);
    if (queries.kind() == QueryKind::kCustom) {
      for (size_t answer = 0; answer < along.size(); ++answer) {
        along[answer] = queries.Row(static_cast<int64_t>(answer)).minCoeff() >= 0 ? 1 : 0;
      }
    }
    std::vector<char> longer;
    longer.reserve(only_adds.size() * along.size());
    for (const char before : only_adds) {
      for (const char adds : along) longer.push_back(static_cast<char>(before & adds));
    }
    only_adds = std::move(longer);
  }
  return only_adds;
}

}  // namespace

std::optional<MeanEstimate> EstimateMean(const Interval& range, const Estimate& sum,
                                         const Estimate& count, double covariance,
                                         double quantile) {
  const auto fieller = RatioIntervalAt(sum, count, covariance, quantile);
  if (!fieller || !(count.value > 0)) return std::nullopt;
  const bool tells = fieller->lower > range.lower || fieller->upper < range.upper;
  if (!tells) return std::nullopt;
  const double ratio = sum.value / count.value;
  const double variance =
      std::max(0.0, sum.variance - 2 * ratio * covariance + ratio * ratio * count.variance);
  return MeanEstimate{std::clamp(ratio, range.lower, range.upper), ratio,
                      variance / (count.value * count.value), Within(range, *fieller)};
}

Interval RangeOf(const MeanEncoding& mean) {
  return {DecimalValue(mean.low, mean.decimals), DecimalValue(mean.high, mean.decimals)};
}

Interval RangeOfMean(const Domain& domain, const ProductQuery& sum) {
  const MeanEncoding* mean = nullptr;
  for (const AttributeWeights& factor : sum.factors()) {
    const MeanEncoding* of_factor = MeanOf(domain[factor.attribute]);
    if (of_factor != nullptr) {
      mean = of_factor;
    } else if (HasNegative(factor)) {
      return kUnbounded;
    }
  }
  RESIDUA_CHECK(mean != nullptr);
  return RangeOf(*mean);
}

AxisAnswers MeanAxis(const Attribute& attribute, const ResidualBasis& basis) {
  RESIDUA_CHECK(MeanOf(attribute) != nullptr && basis.is_identity());
  Attribute asked = attribute;
  const auto n = static_cast<size_t>(attribute.size);
  const size_t num_answers = n + 1;
  asked.queries = QueryKind::kCustom;
  asked.custom = {static_cast<int64_t>(num_answers), std::vector<double>(num_answers * n)};
  for (const MeanAnswer answer : {kAtLow, kAtHigh}) {
    asked.custom.entries[answer * n + answer] = 1;
    asked.custom.entries[kCount * n + answer] = 1;
  }
  if (num_answers > kMissing) asked.custom.entries[kMissing * n + n - 1] = 1;
  AxisAnswers axis{QueryMatrix(asked), {}, {}};
  axis.labels = {CellLabel(attribute, kAtLow), CellLabel(attribute, kAtHigh), "all"};
  if (num_answers > kMissing) axis.labels.emplace_back("null");
  for (size_t answer = 0; answer < num_answers; ++answer) {
    const auto size = static_cast<double>(n);
    const double cells = answer == kCount ? 2 : 1;
    axis.variances.push_back({cells - cells * cells / size, cells * cells / (size * size)});
  }
  return axis;
}

MeanColumns MeanColumnsOf(const Plan& plan, const ResidualIndex& index, const AttributeSet& table,
                          std::span<const AxisAnswers> axis_of_attribute,
                          std::span<const double> counts, double quantile) {
  const int mean = MeanAttribute(plan.domain, table);
  RESIDUA_CHECK(mean >= 0);
  std::vector<const AxisAnswers*> axes;
  for (const int i : table) axes.push_back(&axis_of_attribute[static_cast<size_t>(i)]);
  const auto axis = static_cast<size_t>(std::ranges::find(table, mean) - table.begin());
  return MakeMeanColumns(*MeanOf(plan.domain[mean]), AnswerTable(counts, axes),
                         AnswerVariances(index, table, axes), axes, axis, quantile);
}

MeanColumns MakeMeanColumns(const MeanEncoding& mean, std::span<const double> answers,
                            std::span<const double> variances,
                            std::span<const AxisAnswers* const> axes, size_t axis,
                            double quantile) {
  RESIDUA_CHECK(answers.size() == variances.size());
  size_t inner = 1;
  for (size_t k = axis + 1; k < axes.size(); ++k) inner *= static_cast<size_t>(axes[k]->size());
  const auto num_along = static_cast<size_t>(axes[axis]->size());
  const size_t outer = answers.size() / (num_along * inner);
  const Interval range = RangeOf(mean);
  const auto [low, high] = range;
  const std::vector<char> only_adds = OnlyAdds(axes, axis);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  MeanColumns columns;
  for (size_t o = 0; o < outer; ++o) {
    for (size_t c = 0; c < inner; ++c) {
      const auto place = [&](MeanAnswer answer) { return (o * num_along + answer) * inner + c; };
      const double v_low = variances[place(kAtLow)];
      const double v_high = variances[place(kAtHigh)];
      const Estimate count{answers[place(kCount)], variances[place(kCount)]};
      const double covariance = (count.variance - v_low - v_high) / 2;
      const Estimate sum{
          low * answers[place(kAtLow)] + high * answers[place(kAtHigh)],
          std::max(0.0, low * low * v_low + 2 * low * high * covariance + high * high * v_high)};
      const double with_count = low * v_low + (low + high) * covariance + high * v_high;
      columns.counts.push_back(count.value);
      columns.count_std_devs.push_back(std::sqrt(count.variance));
      columns.sums.push_back(sum.value);
      columns.sum_std_devs.push_back(std::sqrt(sum.variance));
      const auto estimate = EstimateMean(only_adds[o * inner + c] ? range : kUnbounded, sum, count,
                                         with_count, quantile);
      columns.means.push_back(estimate ? estimate->value : kNone);
      columns.mean_std_devs.push_back(estimate ? std::sqrt(estimate->variance) : kNone);
      columns.mean_lower.push_back(estimate ? estimate->interval.lower : kNone);
      columns.mean_upper.push_back(estimate ? estimate->interval.upper : kNone);
    }
  }
  return columns;
}

}  // namespace residua
