#include "residua/measure/sliced/row_digits.h"

#include <algorithm>
#include <set>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

// A group of fewer attributes is not worth a wide addition.
constexpr size_t kLeastAttributesInLanes = 2;

// Attributes that become a LaneGroup, and the digits that they share.
struct GroupedAttributes {
  std::vector<AttributeSet> digits;
  std::vector<int64_t> num_cells;  // of each digit
  int64_t num_lanes = 0;

  // Adds the attribute to the first digit with room for its cells.
  bool Add(int attribute, int64_t size) {
    if (num_lanes + size > static_cast<int64_t>(kNumLanes)) return false;
    const auto has_room = [&](int64_t cells) { return cells * size <= kMostSliceValues; };
    const auto at = static_cast<size_t>(std::find_if(num_cells.begin(), num_cells.end(), has_room) -
                                        num_cells.begin());
    if (at == digits.size()) {
      if (digits.size() == kMostSources) return false;
      digits.emplace_back();
      num_cells.push_back(1);
    }
    digits[at].push_back(attribute);
    num_cells[at] *= size;
    num_lanes += size;
    return true;
  }

  size_t num_attributes() const {
    size_t number = 0;
    for (const AttributeSet& digit : digits) number += digit.size();
    return number;
  }
};

// Puts each attribute, the largest first, into the first group with room for it.
std::vector<GroupedAttributes> Grouped(const Domain& domain, AttributeSet attributes) {
  std::stable_sort(attributes.begin(), attributes.end(),
                   [&](int a, int b) { return domain[a].size > domain[b].size; });
  std::vector<GroupedAttributes> groups;
  for (const int i : attributes) {
    const auto added = std::find_if(groups.begin(), groups.end(), [&](GroupedAttributes& group) {
      return group.Add(i, domain[i].size);
    });
    if (added == groups.end()) RESIDUA_CHECK(groups.emplace_back().Add(i, domain[i].size));
  }
  std::erase_if(groups, [](const GroupedAttributes& group) {
    return group.num_attributes() < kLeastAttributesInLanes;
  });
  // The digit of most cells last, as the last one needs no lanes for each of its cells, and the one
  // of fewest before it, as their cells are counted together where they are not too many.
  for (GroupedAttributes& group : groups) {
    std::stable_sort(group.digits.begin(), group.digits.end(),
                     [&](const AttributeSet& a, const AttributeSet& b) {
                       return NumCellsInMemory(domain, a) < NumCellsInMemory(domain, b);
                     });
    if (group.digits.size() > 2) {
      std::rotate(group.digits.begin(), group.digits.begin() + 1, group.digits.end() - 1);
    }
  }
  return groups;
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

// Lanes from `first_lane` on for the attributes of a digit.
LaneSource MakeSource(size_t digit_index, const Digit& digit, size_t first_lane) {
  LaneSource source{digit_index};
  for (size_t k = 0; k < digit.attributes.size(); ++k) {
    for (size_t cell = 0; cell < digit.num_cells; ++cell) {
      source.bits[cell] |= uint64_t{1} << BitOfLane(first_lane + digit.values[k][cell]);
    }
    first_lane += static_cast<size_t>(digit.sizes[k]);
  }
  RESIDUA_CHECK(first_lane <= kNumLanes);
  return source;
}

}  // namespace

RowDigits::RowDigits(const Domain& domain, std::span<const SlicedSets> slices) {
  // Those that later slices need first; a slice attribute is no digit of its own slices.
  AttributeSet needed;
  std::set<int> is_needed;
  for (size_t s = slices.size(); s-- > 0;) {
    for (const AttributeSet& table : slices[s].tables) {
      for (const int i : table) {
        if (i != slices[s].slice && is_needed.insert(i).second) needed.push_back(i);
      }
    }
  }
  AttributeSet small;
  std::copy_if(needed.begin(), needed.end(), std::back_inserter(small),
               [&](int i) { return domain[i].size <= kMostValuesInLanes; });
  std::sort(small.begin(), small.end());
  for (GroupedAttributes& grouped : Grouped(domain, std::move(small))) {
    LaneGroup& group = groups_.emplace_back();
    size_t lane = 0;
    for (AttributeSet& attributes : grouped.digits) {
      digits_.push_back(MakeDigit(domain, std::move(attributes)));
      const Digit& digit = digits_.back();
      group.sources.push_back(MakeSource(digits_.size() - 1, digit, lane));
      for (size_t k = 0; k < digit.attributes.size(); ++k) {
        group.attributes.push_back(digit.attributes[k]);
        group.first_lanes.push_back(lane);
        lane += static_cast<size_t>(digit.sizes[k]);
      }
    }
  }
  for (const int i : needed) {
    if (GroupOf(i) == groups_.size()) digits_.push_back(MakeDigit(domain, {i}));
  }
}

size_t RowDigits::DigitOf(int attribute) const {
  const auto at = std::find_if(digits_.begin(), digits_.end(), [&](const Digit& digit) {
    return std::find(digit.attributes.begin(), digit.attributes.end(), attribute) !=
           digit.attributes.end();
  });
  RESIDUA_CHECK(at != digits_.end());
  return static_cast<size_t>(at - digits_.begin());
}

size_t RowDigits::GroupOf(int attribute) const {
  const auto at = std::find_if(groups_.begin(), groups_.end(), [&](const LaneGroup& group) {
    return std::find(group.attributes.begin(), group.attributes.end(), attribute) !=
           group.attributes.end();
  });
  return static_cast<size_t>(at - groups_.begin());
}

size_t PlaceIn(const AttributeSet& attributes, int attribute) {
  const auto at = std::find(attributes.begin(), attributes.end(), attribute);
  RESIDUA_CHECK(at != attributes.end());
  return static_cast<size_t>(at - attributes.begin());
}

}  // namespace residua
