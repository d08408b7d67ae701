#include "residua/release/published_errors.h"

#include <algorithm>
#include <map>

#include "residua/noise/discrete_gaussian.h"
#include "residua/noise/variance_limits.h"

namespace residua {
namespace {

// From here on the variance of a discrete Gaussian is its parameter, to a double. No integer is
// measured with a smaller variance than its base mechanism. Plans with scales have none smaller.
constexpr int kExactVariance = 4;

// One of the attribute sets of an orbit, whose classes increase.
AttributeSet AnyMember(const Plan& plan, std::span<const int> orbit) {
  std::vector<int> set;
  size_t place = 0;  // among the members of the class
  for (size_t k = 0; k < orbit.size(); ++k) {
    place = k > 0 && orbit[k] == orbit[k - 1] ? place + 1 : 0;
    set.push_back(plan.classes.members[static_cast<size_t>(orbit[k])][place]);
  }
  return plan.domain.MakeSet(std::move(set));
}

}  // namespace

std::vector<TableErrors> PublishedErrors(const Plan& plan) {
  Plan drawn = plan;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    Rational& variance = drawn.variances[static_cast<size_t>(k)];
    if (variance >= kExactVariance) continue;
    const int scale_bits = plan.scale_bits.empty() ? 0 : plan.scale_bits[static_cast<size_t>(k)];
    const Rational asked = IntegerNoiseVariance(plan, AnyMember(plan, plan.mechanisms[k])) *
                           (Integer(1) << static_cast<unsigned>(2 * scale_bits));
    if (asked >= kExactVariance) continue;
    // A variance that cannot be drawn is not measured either.
    if (asked < MinDiscreteGaussianVariance()) continue;
    variance *= Rational(DiscreteGaussianVariance(asked)) / asked;
  }
  return PredictErrors(drawn);
}

std::vector<OrderErrors> ByOrder(const std::vector<TableErrors>& errors) {
  std::map<size_t, OrderErrors> by_order;
  for (const TableErrors& table : errors) {
    OrderErrors& order = by_order[table.orbit.size()];
    order.num_attributes = table.orbit.size();
    order.num_tables += table.num_tables;
    order.num_answers += table.num_tables * table.num_answers;
    order.mean_variance += table.num_tables * table.num_answers * table.mean_variance;
    order.max_variance = std::max(order.max_variance, table.max_variance);
  }
  std::vector<OrderErrors> orders;
  for (auto& [num_attributes, order] : by_order) {
    order.mean_variance /= order.num_answers;
    orders.push_back(order);
  }
  return orders;
}

}  // namespace residua
