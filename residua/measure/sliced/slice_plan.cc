#include "residua/measure/sliced/slice_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

// An attribute of more values has no lanes: it would take several registers.
bool HasLanes(const Domain& domain, int attribute) {
  return domain[attribute].size <= static_cast<int64_t>(kNumLanes);
}

// Puts each attribute, the largest first, into the first group with room for its lanes.
std::vector<AttributeSet> Grouped(const Domain& domain, const AttributeSet& attributes) {
  AttributeSet by_size = attributes;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](int a, int b) { return domain[a].size > domain[b].size; });
  struct Group {
    AttributeSet attributes;
    int64_t num_lanes = 0;
    int64_t num_cells = 1;
  };
  std::vector<Group> groups;
  for (const int i : by_size) {
    const int64_t size = domain[i].size;
    const auto has_room = [&](const Group& group) {
      return group.num_lanes + size <= static_cast<int64_t>(kNumLanes) &&
             group.num_cells * size <= kMostSliceValues;
    };
    auto group = std::find_if(groups.begin(), groups.end(), has_room);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{});
    group->attributes.push_back(i);
    group->num_lanes += size;
    group->num_cells *= size;
  }
  std::vector<AttributeSet> grouped;
  for (Group& group : groups) grouped.push_back(std::move(group.attributes));
  return grouped;
}

Digit MakeDigit(const Domain& domain, AttributeSet attributes) {
  Digit digit{std::move(attributes), {}, 1, {}};
  for (const int i : digit.attributes) {
    digit.sizes.push_back(domain[i].size);
    digit.num_cells *= static_cast<size_t>(domain[i].size);
  }
  RESIDUA_CHECK(digit.num_cells <= static_cast<size_t>(kMostSliceValues));
  size_t inner = digit.num_cells;
  for (const int64_t size : digit.sizes) {
    inner /= static_cast<size_t>(size);
    std::vector<uint8_t>& values = digit.values.emplace_back();
    for (size_t cell = 0; cell < digit.num_cells; ++cell) {
      values.push_back(static_cast<uint8_t>(cell / inner % static_cast<size_t>(size)));
    }
  }
  return digit;
}

size_t PlaceIn(const AttributeSet& attributes, int attribute) {
  const auto at = std::find(attributes.begin(), attributes.end(), attribute);
  RESIDUA_CHECK(at != attributes.end());
  return static_cast<size_t>(at - attributes.begin());
}

LaneGroup MakeGroup(size_t digit_index, const Digit& digit, const AttributeSet& attributes) {
  LaneGroup group{digit_index, attributes, {}, std::vector<Lanes>(digit.num_cells, Lanes{})};
  size_t lane = 0;
  for (const int i : attributes) {
    const size_t place = PlaceIn(digit.attributes, i);
    group.first_lanes.push_back(lane);
    for (size_t cell = 0; cell < digit.num_cells; ++cell) {
      group.one_hot[cell].lane[lane + digit.values[place][cell]] = 1;
    }
    lane += static_cast<size_t>(digit.sizes[place]);
  }
  RESIDUA_CHECK(lane <= kNumLanes);
  return group;
}

// What one digit, as the base, and the lanes of groups count.
struct BaseNeeds {
  std::map<size_t, std::vector<LaneTable>> by_group;
  std::vector<JointTable> joints;
};

}  // namespace

SlicePlan::SlicePlan(const Domain& domain, int slice, std::vector<AttributeSet> tables)
    : slice_(slice),
      num_values_(static_cast<size_t>(domain[slice].size)),
      tables_(std::move(tables)) {
  for (const AttributeSet& table : tables_) {
    RESIDUA_CHECK(table.size() == 3 && MeanAttribute(domain, table) < 0 &&
                  std::binary_search(table.begin(), table.end(), slice));
    for (const int i : table) RESIDUA_CHECK(domain[i].size <= kMostSliceValues);
  }
  MakeDigits(domain);
  AddPasses(domain);
}

void SlicePlan::MakeDigits(const Domain& domain) {
  std::set<int> others;
  for (const AttributeSet& table : tables_) others.insert(table.begin(), table.end());
  others.erase(slice_);
  AttributeSet with_lanes;
  for (const int i : others) {
    if (HasLanes(domain, i)) {
      with_lanes.push_back(i);
    } else {
      digits_.push_back(MakeDigit(domain, {i}));
    }
  }
  // Groups whose cells together fit a byte share a digit: as a base, it counts for all at once.
  struct Shared {
    AttributeSet attributes;
    std::vector<AttributeSet> groups;
    int64_t num_cells = 1;
  };
  std::vector<Shared> all_shared;
  for (const AttributeSet& group : Grouped(domain, with_lanes)) {
    int64_t num_cells = 1;
    for (const int i : group) num_cells *= domain[i].size;
    auto shared = std::find_if(all_shared.begin(), all_shared.end(), [&](const Shared& other) {
      return other.num_cells * num_cells <= kMostSliceValues;
    });
    if (shared == all_shared.end()) shared = all_shared.insert(all_shared.end(), Shared{});
    shared->attributes.insert(shared->attributes.end(), group.begin(), group.end());
    shared->groups.push_back(group);
    shared->num_cells *= num_cells;
  }
  for (const Shared& shared : all_shared) {
    digits_.push_back(MakeDigit(domain, shared.attributes));
    for (const AttributeSet& group : shared.groups) {
      groups_.push_back(MakeGroup(digits_.size() - 1, digits_.back(), group));
    }
  }
}

size_t SlicePlan::DigitOf(int attribute) const {
  const auto at = std::find_if(digits_.begin(), digits_.end(), [&](const Digit& digit) {
    return std::find(digit.attributes.begin(), digit.attributes.end(), attribute) !=
           digit.attributes.end();
  });
  RESIDUA_CHECK(at != digits_.end());
  return static_cast<size_t>(at - digits_.begin());
}

Strides SlicePlan::StridesOf(const Domain& domain, const AttributeSet& table, int first,
                             int second) const {
  Strides strides;
  size_t stride = 1;
  for (auto i = table.rbegin(); i != table.rend(); ++i) {
    (*i == slice_ ? strides.slice : *i == first ? strides.first : strides.second) = stride;
    RESIDUA_CHECK(*i == slice_ || *i == first || *i == second);
    stride *= static_cast<size_t>(domain[*i].size);
  }
  return strides;
}

void SlicePlan::AddPasses(const Domain& domain) {
  std::map<size_t, BaseNeeds> needs;
  for (size_t t = 0; t < tables_.size(); ++t) {
    AttributeSet others = tables_[t];
    std::erase(others, slice_);
    // The attribute of the earlier digit first: those without lanes are before all others.
    if (DigitOf(others[0]) > DigitOf(others[1])) std::swap(others[0], others[1]);
    const size_t first = DigitOf(others[0]);
    const size_t second = DigitOf(others[1]);
    const Strides strides = StridesOf(domain, tables_[t], others[0], others[1]);
    if (first == second) {
      const AttributeSet& attributes = digits_[first].attributes;
      needs[first].joints.push_back(
          {t, PlaceIn(attributes, others[0]), PlaceIn(attributes, others[1]), strides});
    } else if (!HasLanes(domain, others[1])) {
      direct_tables_.push_back({t, first, second, strides});
    } else {
      const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const LaneGroup& one) {
        return std::find(one.attributes.begin(), one.attributes.end(), others[1]) !=
               one.attributes.end();
      });
      RESIDUA_CHECK(group != groups_.end());
      const size_t lane = group->first_lanes[PlaceIn(group->attributes, others[1])];
      needs[first].by_group[static_cast<size_t>(group - groups_.begin())].push_back(
          {t, PlaceIn(digits_[first].attributes, others[0]), lane,
           static_cast<size_t>(domain[others[1]].size), strides});
    }
  }
  for (auto& [digit, need] : needs) {
    if (need.by_group.empty()) joint_passes_.push_back({digit, std::move(need.joints)});
  }
  // Bases that need the same groups share passes.
  std::map<std::vector<size_t>, std::vector<size_t>> bases_of;
  for (const auto& [digit, need] : needs) {
    std::vector<size_t> groups;
    for (const auto& [group, tables] : need.by_group) groups.push_back(group);
    if (!groups.empty()) bases_of[groups].push_back(digit);
  }
  for (const auto& [groups, bases] : bases_of) {
    for (size_t b = 0; b < bases.size(); b += kMostBases) {
      for (size_t g = 0; g < groups.size(); g += kMostGroups) {
        LanePass& pass = lane_passes_.emplace_back();
        for (size_t k = b; k < std::min(b + kMostBases, bases.size()); ++k) {
          BaseNeeds& need = needs[bases[k]];
          pass.bases.push_back(bases[k]);
          pass.joints.push_back(std::exchange(need.joints, {}));
          std::vector<std::vector<LaneTable>>& tables = pass.tables.emplace_back();
          for (size_t j = g; j < std::min(g + kMostGroups, groups.size()); ++j) {
            tables.push_back(std::move(need.by_group[groups[j]]));
          }
        }
        pass.groups.assign(
            groups.begin() + static_cast<std::ptrdiff_t>(g),
            groups.begin() + static_cast<std::ptrdiff_t>(std::min(g + kMostGroups, groups.size())));
      }
    }
  }
}

int64_t SlicePlan::num_additions() const {
  size_t additions = direct_tables_.size() + joint_passes_.size();
  for (const LanePass& pass : lane_passes_) additions += pass.bases.size() * pass.groups.size();
  return static_cast<int64_t>(additions);
}

double SlicePlan::Cost(double num_rows) const {
  double per_row = 2.5 + 1.0 * static_cast<double>(words_per_row());  // to sort it
  double at_end = 0;                                                  // of each slice
  for (const LanePass& pass : lane_passes_) {
    const auto num_groups = static_cast<double>(pass.groups.size());
    per_row += 0.25 * num_groups + 0.45 * num_groups * static_cast<double>(pass.bases.size());
    for (const size_t base : pass.bases) {
      at_end += 15 * num_groups * static_cast<double>(digits_[base].num_cells);
    }
  }
  per_row += 0.5 * static_cast<double>(joint_passes_.size());
  for (const DirectTable& direct : direct_tables_) {
    per_row += 1.1;
    at_end += 0.5 * static_cast<double>(digits_[direct.first].num_cells *
                                        digits_[direct.second].num_cells);
  }
  return num_rows * per_row + at_end * static_cast<double>(num_values_);
}

}  // namespace residua
