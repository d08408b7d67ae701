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
  for (const AttributeSet& table : sets_.tables) {
    RESIDUA_CHECK(table.size() == 3);
    RESIDUA_CHECK(std::binary_search(table.begin(), table.end(), sets_.slice));
    for (const int i : table) {
      RESIDUA_CHECK(domain[i].size <= kMostSliceValues && MeanOf(domain[i]) == nullptr);
      if (i == sets_.slice) continue;
      words_per_row_ = std::max(words_per_row_, digits_->DigitOf(i) / 8 + 1);
    }
  }
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
  std::map<size_t, std::vector<std::pair<size_t, AttributeSet>>> within;
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
    if (first == second) {
      within[first].emplace_back(t, others);
    } else if (group == num_groups) {
      // In domain order, so that the second has the smaller stride.
      direct_tables_.push_back(
          {t, first, second, StridesOf(domain, tables()[t], others[0], others[1])});
    } else {
      in_lanes[group][first].push_back(LaneTableOf(domain, t, others[0], others[1]));
    }
  }
  for (const auto& [digit, of_digit] : within) {
    const AttributeSet& attributes = digits()[digit].attributes;
    // Where the digit is a base of its own lanes, these have its tables too.
    const auto bases = in_lanes.find(digits_->GroupOf(attributes.front()));
    if (bases != in_lanes.end() && bases->second.contains(digit)) {
      for (const auto& [t, others] : of_digit) {
        bases->second[digit].push_back(LaneTableOf(domain, t, others[0], others[1]));
      }
      continue;
    }
    JointPass& pass = joint_passes_.emplace_back();
    pass.digit = digit;
    for (const auto& [t, others] : of_digit) {
      pass.tables.push_back({t, PlaceIn(attributes, others[0]), PlaceIn(attributes, others[1]),
                             StridesOf(domain, tables()[t], others[0], others[1])});
    }
  }
  for (auto& [group, bases] : in_lanes) {
    for (auto& [digit, of_base] : bases) {
      LanePass& pass = PassWithRoom(group, digits()[digit].num_cells);
      pass.bases.push_back(digit);
      pass.tables.push_back(std::move(of_base));
    }
  }
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
  double per_row = 1.0 + 1.0 * static_cast<double>(words_per_row());  // to sort it
  double at_end = 0;                                                  // of each slice
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
