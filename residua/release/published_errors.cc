#include "residua/release/published_errors.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "residua/base/shown_text.h"
#include "residua/noise/discrete_gaussian.h"
#include "residua/noise/variance_limits.h"
#include "residua/select/combined_plan.h"

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

// With the variances of the noise that is drawn, and with what was measured before.
Plan AsDrawn(const Plan& plan) {
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
  return drawn.after.empty() ? drawn : WholePlan(drawn);
}

// Of the plan, if tables had the one answer `of_size` along an attribute whose mean is asked. The
// noise of tables alone is still chosen for its cells.
std::vector<TableErrors> ErrorsWith(Plan plan, QueryVariance (*of_size)(double size)) {
  for (int c = 0; c < plan.classes.size(); ++c) {
    ResidualBasis& basis = plan.bases[static_cast<size_t>(c)];
    const auto& members = plan.classes.members[static_cast<size_t>(c)];
    if (MeanOf(plan.domain[members.front()]) == nullptr) continue;
    basis.num_answers = 1;
    basis.mean = of_size(static_cast<double>(basis.size));
    basis.peaks = {basis.mean};
  }
  return PredictErrors(plan);
}

QueryVariance OfCount(double size) { return {2 - 4 / size, 4 / (size * size)}; }
QueryVariance OfCell(double size) { return {1 - 1 / size, 1 / (size * size)}; }

bool HasMean(const Plan& plan, const TableErrors& table) {
  return std::any_of(table.orbit.begin(), table.orbit.end(), [&](int c) {
    return MeanOf(plan.domain[plan.classes.members[static_cast<size_t>(c)].front()]) != nullptr;
  });
}

}  // namespace

std::vector<TableErrors> PublishedErrors(const Plan& plan) { return PredictErrors(AsDrawn(plan)); }

std::vector<TableErrors> CountErrors(const Plan& plan) {
  return ErrorsWith(AsDrawn(plan), OfCount);
}

PublishedSummary SummarizePublished(const Plan& plan) {
  const Plan drawn = AsDrawn(plan);
  const PlanSummary counts = Summarize(drawn, ErrorsWith(drawn, OfCount));
  PublishedSummary summary{counts.num_answers, counts.rmse, std::sqrt(counts.max_variance), 0, 0};
  if (!HasMeans(plan.domain)) return summary;
  for (const TableErrors& table : ErrorsWith(drawn, OfCell)) {
    if (!HasMean(drawn, table)) continue;
    summary.num_sums += table.num_tables * table.num_answers;
    summary.largest_sum_std_dev =
        std::max(summary.largest_sum_std_dev, std::sqrt(table.max_variance));
  }
  return summary;
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

std::vector<HierarchyLevel> ByLevel(const Plan& plan, const std::vector<TableErrors>& errors) {
  // By class: the tables of an orbit that hold one of its attributes have every other as often.
  std::map<int, std::map<int64_t, HierarchyLevel, std::greater<>>> by_class;
  for (const TableErrors& table : errors) {
    for (const LevelErrors& of : table.levels) {
      const auto members =
          static_cast<double>(plan.classes.members[static_cast<size_t>(of.attribute_class)].size());
      const auto held = static_cast<double>(
          std::count(table.orbit.begin(), table.orbit.end(), of.attribute_class));
      const double answers = table.num_tables * held / members * of.num_answers;
      HierarchyLevel& level = by_class[of.attribute_class][of.level];
      level.num_answers += answers;
      level.mean_variance += answers * of.mean_variance;
      level.max_variance = std::max(level.max_variance, of.max_variance);
    }
  }
  std::vector<HierarchyLevel> levels;
  for (int i = 0; i < plan.domain.size(); ++i) {
    const auto found = by_class.find(plan.classes.class_of[static_cast<size_t>(i)]);
    if (found == by_class.end()) continue;
    const Attribute& attribute = plan.domain[i];
    const std::vector<int64_t> of_answers = AnswerLevels(attribute);
    for (auto [number, level] : found->second) {
      level.attribute = i;
      level.level = number;
      level.num_places = std::count(of_answers.begin(), of_answers.end(), number);
      const auto first = std::find(of_answers.begin(), of_answers.end(), number);
      level.example = AnswerLabel(attribute, first - of_answers.begin());
      level.mean_variance /= level.num_answers;
      levels.push_back(std::move(level));
    }
  }
  return levels;
}

std::string LevelInWords(const Domain& domain, const HierarchyLevel& level) {
  const std::string example = ShownText(level.example);
  return fmt::format("{}, level {} ({})", domain[level.attribute].name, level.level,
                     level.num_places == 1
                         ? example
                         : fmt::format("{} places, such as {}", level.num_places, example));
}

}  // namespace residua
