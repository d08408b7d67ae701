#include "residua/files/companion_columns.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace residua {
namespace {

CellRange CellsOf(const Attribute& attribute, int64_t answer) {
  if (attribute.queries == QueryKind::kPrefix) return {0, answer};
  return RangeOfAnswer(attribute.size, answer);
}

struct Bounds {
  CompanionColumn lower;
  CompanionColumn upper;
};

// bound(cell, is_upper) for the first and the last cell of each answer, `missing` where that is the
// cell for missing values.
template <typename Value, typename Bound>
Bounds BoundsBy(const Attribute& attribute, const Value& missing, const Bound& bound) {
  std::vector<Value> lower;
  std::vector<Value> upper;
  const int64_t num_cells = NumValueCells(attribute);
  const int64_t num_answers = NumAnswers(attribute);
  for (int64_t answer = 0; answer < num_answers; ++answer) {
    const CellRange cells = CellsOf(attribute, answer);
    lower.push_back(cells.first < num_cells ? bound(cells.first, false) : missing);
    upper.push_back(cells.last < num_cells ? bound(cells.last, true) : missing);
  }
  return {{"", std::move(lower)}, {"", std::move(upper)}};
}

std::optional<Bounds> BoundsOf(const Attribute& attribute) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  if (!HasBounds(attribute)) return {};
  if (const auto* integers = std::get_if<IntegerEncoding>(&attribute.encoding.cells)) {
    return BoundsBy(attribute, kMissing, [&](int64_t cell, bool) {
      return static_cast<double>(integers->first + cell);
    });
  }
  if (const auto* bins = std::get_if<CutEncoding>(&attribute.encoding.cells)) {
    const std::vector<double>& cuts = bins->cuts;
    return BoundsBy(attribute, kMissing, [&](int64_t cell, bool is_upper) {
      const auto k = static_cast<size_t>(cell);
      if (is_upper) return k < cuts.size() ? cuts[k] : kInfinity;
      return k > 0 ? cuts[k - 1] : -kInfinity;
    });
  }
  const auto& dates = std::get<DateEncoding>(attribute.encoding.cells);
  const int64_t first = PeriodOf(dates.first_day, dates.every);
  return BoundsBy(attribute, std::string(), [&](int64_t cell, bool is_upper) {
    const DayRange days = DaysOf(first + cell, dates.every);
    return DayText(is_upper ? std::min(days.last, dates.last_day)
                            : std::max(days.first, dates.first_day));
  });
}

}  // namespace

std::vector<std::vector<CompanionColumn>> CompanionsOf(const Domain& domain,
                                                       const TableNames& names) {
  std::vector<std::vector<CompanionColumn>> companions(static_cast<size_t>(domain.size()));
  for (int i = 0; i < domain.size(); ++i) {
    const auto k = static_cast<size_t>(i);
    if (domain[i].queries == QueryKind::kHierarchy) {
      companions[k].push_back({names.level_columns[k], AnswerLevels(domain[i])});
    }
    if (std::optional<Bounds> bounds = BoundsOf(domain[i])) {
      bounds->lower.name = names.lower_columns[k];
      bounds->upper.name = names.upper_columns[k];
      companions[k] = {std::move(bounds->lower), std::move(bounds->upper)};
    }
  }
  return companions;
}

}  // namespace residua
