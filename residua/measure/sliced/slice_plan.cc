#include "residua/measure/sliced/slice_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "residua/base/error.h"
#include "residua/measure/sliced/lane_adder.h"

namespace residua {

SlicePlan::SlicePlan(const Domain& domain, SlicedSets sets,
                     std::shared_ptr<const RowDigits> row_digits)
    : sets_(std::move(sets)),
      num_values_(static_cast<size_t>(domain[sets_.slice].size)),
      digits_(std::move(row_digits)) {
  size_t num_digits = 0;
  for (const AttributeSet& table : sets_.tables) {
    RESIDUA_CHECK(table.size() == 3);
    RESIDUA_CHECK(std::binary_search(table.begin(), table.end(), sets_.slice));
    for (const int i : table) {
      RESIDUA_CHECK(domain[i].size <= kMostSliceValues && MeanOf(domain[i]) == nullptr);
      if (i == sets_.slice) continue;
      num_digits = std::max(num_digits, digits_->DigitOf(i) + 1);
    }
  }
  bytes_per_row_ = num_digits <= 4 ? 4 : (num_digits + 7) / 8 * 8;
  AddPasses(domain);
}

Strides SlicePlan::StridesOf(const Domain& domain, const AttributeSet& table, int first,
                             int second) const {
  Strides strides;
  size_t stride = 1;
  for (auto i = table.rbegin(); i != table.rend(); ++i) {
    (*i == sets_.slice ? strides.slice : *i == first ? strides.first : strides.second) = stride;
    RESIDUA_CHECK(*i == sets_.slice || *i == first || *i == second);
    stride *= static_cast<size_t>(domain[*i].size);
  }
  return strides;
}

LaneTable SlicePlan::LaneTableOf(const Domain& domain, size_t table, int base, int in_lanes) const {
  const LaneGroup& group = digits_->groups()[digits_->GroupOf(in_lanes)];
  return {table, PlaceIn(digits()[digits_->DigitOf(base)].attributes, base),
          group.first_lanes[PlaceIn(group.attributes, in_lanes)],
          static_cast<size_t>(domain[in_lanes].size),
          StridesOf(domain, tables()[table], base, in_lanes)};
}

void SlicePlan::AddPasses(const Domain& domain) {
  const size_t num_groups = digits_->groups().size();
  // The tables of each group and base.
  std::map<size_t, std::map<size_t, std::vector<LaneTable>>> in_lanes;
  // Tables of two attributes of the same digit, by digit.
  std::map<size_t, std::vector<JointTable>> within;
  // By the outer digit, the last of its group: the inner one is before it.
  std::map<size_t, JointPass> joint;
  for (size_t t = 0; t < tables().size(); ++t) {
    AttributeSet others = tables()[t];
    std::erase(others, sets_.slice);
    // Attributes with lanes come last, and of these the one of the later digit: the last of these
    // digits is no base.
    if (digits_->GroupOf(others[0]) < num_groups &&
        (digits_->GroupOf(others[1]) == num_groups ||
         digits_->DigitOf(others[0]) > digits_->DigitOf(others[1]))) {
      std::swap(others[0], others[1]);
    }
    const size_t first = digits_->DigitOf(others[0]);
    const size_t second = digits_->DigitOf(others[1]);
    const size_t group = digits_->GroupOf(others[1]);
    const Strides strides = StridesOf(domain, tables()[t], others[0], others[1]);
    if (first == second) {
      const AttributeSet& attributes = digits()[first].attributes;
      within[first].push_back(
          {t, PlaceIn(attributes, others[0]), PlaceIn(attributes, others[1]), strides});
    } else if (AreCountedTogether(second, first)) {
      joint[second].across.push_back({t,
                                      PlaceIn(digits()[second].attributes, others[1]),
                                      PlaceIn(digits()[first].attributes, others[0]),
                                      {strides.slice, strides.second, strides.first}});
    } else if (group == num_groups) {
      // In domain order, so that the second has the smaller stride.
      direct_tables_.push_back({t, first, second, strides});
    } else {
      in_lanes[group][first].push_back(LaneTableOf(domain, t, others[0], others[1]));
    }
  }
  for (auto& [outer, pass] : joint) {
    pass.outer = outer;
    pass.inner = outer - 1;
  }
  for (auto& [digit, of_digit] : within) {
    // Where the digit is a base of its own lanes, these have its tables too.
    const AttributeSet& attributes = digits()[digit].attributes;
    const auto bases = in_lanes.find(digits_->GroupOf(attributes.front()));
    if (bases != in_lanes.end() && bases->second.contains(digit)) {
      for (const JointTable& of : of_digit) {
        bases->second[digit].push_back(
            LaneTableOf(domain, of.table, attributes[of.first], attributes[of.second]));
      }
    } else if (const auto as_outer = joint.find(digit); as_outer != joint.end()) {
      as_outer->second.within_outer = std::move(of_digit);
    } else if (const auto as_inner = joint.find(digit + 1); as_inner != joint.end()) {
      as_inner->second.within_inner = std::move(of_digit);
    } else {
      joint_passes_.push_back({digit, digit, std::move(of_digit), {}, {}});
    }
  }
  for (auto& [outer, pass] : joint) joint_passes_.push_back(std::move(pass));
  for (auto& [group, bases] : in_lanes) {
    for (auto& [digit, of_base] : bases) {
      LanePass& pass = PassWithRoom(group, digits()[digit].num_cells);
      pass.bases.push_back(digit);
      pass.tables.push_back(std::move(of_base));
    }
  }
}

// Whether these are the last two digits of a group, and have few cells together.
bool SlicePlan::AreCountedTogether(size_t outer, size_t inner) const {
  if (outer != inner + 1) return false;
  return digits()[outer].num_cells * digits()[inner].num_cells <= kMostJointCells &&
         std::any_of(digits_->groups().begin(), digits_->groups().end(),
                     [&](const LaneGroup& group) {
                       return group.sources.back().digit == outer && group.sources.size() > 1;
                     });
}

LanePass& SlicePlan::PassWithRoom(size_t group, size_t num_cells) {
  // Of a first-level cache of 32 KiB, 25 are for lanes; the rest is for rows and the bits of lanes.
  constexpr size_t kMostCells = 400;
  for (LanePass& pass : lane_passes_) {
    size_t cells = num_cells;
    for (const size_t base : pass.bases) cells += digits()[base].num_cells;
    if (pass.group == group && pass.bases.size() < kMostBases && cells <= kMostCells) return pass;
  }
  return lane_passes_.emplace_back(LanePass{group, {}, {}});
}

int64_t SlicePlan::num_additions() const {
  size_t additions = direct_tables_.size() + joint_passes_.size();
  for (const LanePass& pass : lane_passes_) additions += pass.bases.size();
  return static_cast<int64_t>(additions);
}

double SlicePlan::Cost(double num_rows) const {
  double per_row = 1.0 + static_cast<double>(bytes_per_row()) / 8;  // to sort it
  double at_end = 0;                                                // of each slice
  for (const LanePass& pass : lane_passes_) {
    per_row += 0.3 + 0.9 * static_cast<double>(pass.bases.size());
    for (const size_t base : pass.bases) {
      at_end += 30 * static_cast<double>(digits()[base].num_cells);
    }
  }
  per_row += 0.5 * static_cast<double>(joint_passes_.size());
  for (const DirectTable& direct : direct_tables_) {
    per_row += 0.7;
    at_end += 0.5 * static_cast<double>(digits()[direct.first].num_cells *
                                        digits()[direct.second].num_cells);
  }
  return num_rows * per_row + at_end * static_cast<double>(num_values_);
}

}  // namespace residua
