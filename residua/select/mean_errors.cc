#include "residua/select/mean_errors.h"

#include <algorithm>
#include <array>

#include "residua/base/error.h"
#include "residua/select/combined_plan.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

// What the query low n0 + high n1 of an attribute of `size` cells contributes to a variance.
QueryVariance VarianceAlong(double low, double high, double size) {
  const double sum = low + high;
  return {low * low + high * high - sum * sum / size, sum * sum / (size * size)};
}

MeanErrors ErrorsOf(const Plan& plan, const AttributeSet& table, int mean) {
  const Attribute& attribute = plan.domain[mean];
  const MeanEncoding& numbers = *MeanOf(attribute);
  const auto size = static_cast<double>(attribute.size);
  const double low = DecimalValue(numbers.low, numbers.decimals);
  const double high = DecimalValue(numbers.high, numbers.decimals);
  // The count, the sum, and sum - low count; sum - high count varies as much.
  const std::array<QueryVariance, 3> along = {VarianceAlong(1, 1, size),
                                              VarianceAlong(low, high, size),
                                              VarianceAlong(0, high - low, size)};
  AttributeSet others = table;
  std::erase(others, mean);
  MeanErrors errors{table, mean, 1};
  for (const int i : others) {
    errors.num_answers *= static_cast<double>(NumAnswers(plan.domain[i]));
  }
  std::array<double, 3> variances = {};
  for (uint64_t mask = 0; mask < uint64_t{1} << others.size(); ++mask) {
    AttributeSet without;
    double term = 1;
    for (size_t k = 0; k < others.size(); ++k) {
      const auto c = static_cast<size_t>(plan.classes.class_of[static_cast<size_t>(others[k])]);
      const bool is_in = (mask >> k & 1) != 0;
      if (is_in) without.push_back(others[k]);
      term *= is_in ? plan.bases[c].mean.residual : plan.bases[c].mean.constant;
    }
    AttributeSet with = without;
    with.insert(std::upper_bound(with.begin(), with.end(), mean), mean);
    const double noise_with = NoiseVariance(plan, with).get_d();
    const double noise_without = NoiseVariance(plan, without).get_d();
    for (size_t k = 0; k < variances.size(); ++k) {
      variances[k] += term * (noise_with * along[k].residual + noise_without * along[k].constant);
    }
  }
  errors.count_variance = variances[0];
  errors.sum_variance = variances[1];
  errors.most_variance = variances[2];
  return errors;
}

}  // namespace

std::vector<MeanErrors> PredictMeanErrors(const Plan& plan, std::span<const AttributeSet> tables) {
  if (!plan.after.empty()) return PredictMeanErrors(WholePlan(plan), tables);
  std::vector<MeanErrors> errors;
  for (const AttributeSet& table : tables) {
    const int mean = MeanAttribute(plan.domain, table);
    if (mean >= 0) errors.push_back(ErrorsOf(plan, table, mean));
  }
  return errors;
}

}  // namespace residua
