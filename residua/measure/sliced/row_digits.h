#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// Tables of three attributes that are counted in slices of the same attribute, which each of them
// has. All attributes have at most 256 values, and none is asked for its mean.
struct SlicedSets {
  int slice = 0;
  std::vector<AttributeSet> tables;
};

// What can be sliced, or be a digit: a byte holds its values.
inline constexpr int64_t kMostSliceValues = 256;

// One byte of a packed row: the row's cell in the table on `attributes`, row-major. There are at
// most 256 such cells.
struct Digit {
  AttributeSet attributes;
  std::vector<int64_t> sizes;  // of the attributes
  size_t num_cells = 1;
  // The value of attribute k in each cell.
  std::vector<std::vector<uint8_t>> values;
};

// An attribute of more values has no lanes: a wide addition costs about as much as two others, and
// should count more attributes than that.
inline constexpr int64_t kMostValuesInLanes = 16;

// So many attributes of two or more values share a digit at most.
inline constexpr size_t kMostSharing = 8;

// Counters that are added to at once.
inline constexpr size_t kNumLanes = 64;

// Where the lanes of a group come from: bit BitOfLane(l) of bits[cell] is set if a row with this cell
// of the digit adds 1 to lane l.
struct LaneSource {
  size_t digit = 0;
  std::array<uint64_t, static_cast<size_t>(kMostSliceValues)> bits = {};
};

// In this order, a vector with the 64 bits in each of its words has the bit of each lane within the
// lane: byte p of word w, which is lane 8 w + p, looks at its bit w.
constexpr size_t BitOfLane(size_t lane) { return lane % 8 * 8 + lane / 8; }

// Attributes of few values that are counted by one wide addition: the lanes from first_lanes[k] on
// are the values of attributes[k]. A row adds 1 to one lane of each attribute.
struct LaneGroup {
  AttributeSet attributes;
  std::vector<size_t> first_lanes;
  std::vector<LaneSource> sources;
};
// A row looks up its lanes in so many sources at most: with three digits of up to 256 cells, 64
// lanes are nearly always used up.
inline constexpr size_t kMostSources = 3;

// The bytes that rows are packed into, for all slices of a counting plan. Attributes of few values
// share digits and have lanes. They come first, then the other attributes, those that later slices
// need before others: a slice needs the first words of a row only. Follows from its arguments alone,
// which are public.
class RowDigits {
 public:
  RowDigits(const Domain& domain, std::span<const SlicedSets> slices);

  const std::vector<Digit>& digits() const { return digits_; }
  const std::vector<LaneGroup>& groups() const { return groups_; }
  // A packed row has its digits in so many words of 8 bytes, one at least.
  size_t words_per_row() const { return std::max<size_t>((digits_.size() + 7) / 8, 1); }

  size_t DigitOf(int attribute) const;
  // The group with the attribute's lanes; groups().size() if it has none.
  size_t GroupOf(int attribute) const;

 private:
  std::vector<Digit> digits_;
  std::vector<LaneGroup> groups_;
};

// The place of an attribute that is among `attributes`.
size_t PlaceIn(const AttributeSet& attributes, int attribute);

}  // namespace residua
