#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// Rows that are sorted by one attribute, the slice attribute, form a slice for each of its values.
// Within a slice a table of three attributes is one of two: its counters stay in the first-level
// cache, and small attributes are counted side by side. A SlicePlan says how; it follows from the
// domain and the tables alone, which are public.

// Counters that are added to at once: 16 lanes of 16 bits, one AVX2 register.
inline constexpr size_t kNumLanes = 16;
struct alignas(2 * kNumLanes) Lanes {
  std::array<uint16_t, kNumLanes> lane = {};
};

// Rows between two flushes of lanes: a row adds at most 1 to a lane, so that no lane exceeds this
// number, which 16 bits hold.
inline constexpr size_t kMostRowsInLanes = 65535;

// What can be sliced, or be a byte of a packed row.
inline constexpr int64_t kMostSliceValues = 256;

// A byte of a packed row: the cell of a row in the table on `attributes`, row-major. There are at
// most 256 such cells.
struct Digit {
  AttributeSet attributes;
  std::vector<int64_t> sizes;  // of the attributes
  size_t num_cells = 1;
  // The value of attribute k in each cell.
  std::vector<std::vector<uint8_t>> values;
};

// Attributes of one digit with at most 16 values together, counted by one wide addition: the lanes
// from first_lanes[k] on are the values of attributes[k].
struct LaneGroup {
  size_t digit = 0;
  AttributeSet attributes;
  std::vector<size_t> first_lanes;
  // For each cell of the digit, a 1 in the lane of each attribute's value.
  std::vector<Lanes> one_hot;
};

// Where the slice attribute and two others are in the cells of a table: the cell of values v, p, q
// is v * slice + p * first + q * second.
struct Strides {
  size_t slice = 0;
  size_t first = 0;
  size_t second = 0;
};

// A table that lanes are added to: `base` is an attribute of the digit that the lanes are kept for
// each cell of, and the lanes from first_lane on are the `num_values` values of the other attribute.
struct LaneTable {
  size_t table = 0;
  size_t base = 0;  // its place in the digit
  size_t first_lane = 0;
  size_t num_values = 0;
  Strides strides;  // first: of the base, second: of the other
};

// Adds the lanes of each of `groups` to those of the row's cell in each of `bases`, which are
// digits. tables[b][g] are fed from base b and group g. joints[b] are tables of two attributes of
// base b.
struct JointTable {
  size_t table = 0;
  size_t first = 0;  // places in the digit
  size_t second = 0;
  Strides strides;
};
struct LanePass {
  std::vector<size_t> bases;
  std::vector<size_t> groups;
  std::vector<std::vector<std::vector<LaneTable>>> tables;
  std::vector<std::vector<JointTable>> joints;
};
inline constexpr size_t kMostBases = 3;
inline constexpr size_t kMostGroups = 4;

// A digit whose cells are counted one by one, for tables of two of its attributes.
struct JointPass {
  size_t digit = 0;
  std::vector<JointTable> tables;
};

// A table that is counted cell by cell, in place.
struct DirectTable {
  size_t table = 0;
  size_t first = 0;  // digits
  size_t second = 0;
  Strides strides;
};

class SlicePlan {
 public:
  // Each of `tables` has three attributes, one of which is `slice`, of at most 256 values each, and
  // none is asked for its mean.
  SlicePlan(const Domain& domain, int slice, std::vector<AttributeSet> tables);

  int slice() const { return slice_; }
  size_t num_values() const { return num_values_; }
  const std::vector<AttributeSet>& tables() const { return tables_; }
  const std::vector<Digit>& digits() const { return digits_; }
  const std::vector<LaneGroup>& groups() const { return groups_; }
  const std::vector<LanePass>& lane_passes() const { return lane_passes_; }
  const std::vector<JointPass>& joint_passes() const { return joint_passes_; }
  const std::vector<DirectTable>& direct_tables() const { return direct_tables_; }

  // A packed row has its digits in so many words of 8 bytes.
  size_t words_per_row() const { return (digits_.size() + 7) / 8; }

  // Additions to memory for each row, wide or not.
  int64_t num_additions() const;
  // Estimated nanoseconds, as measured, for `num_rows` rows that are counted together.
  double Cost(double num_rows) const;

 private:
  void MakeDigits(const Domain& domain);
  size_t DigitOf(int attribute) const;
  Strides StridesOf(const Domain& domain, const AttributeSet& table, int first, int second) const;
  void AddPasses(const Domain& domain);

  int slice_;
  size_t num_values_;
  std::vector<AttributeSet> tables_;
  std::vector<Digit> digits_;
  std::vector<LaneGroup> groups_;
  std::vector<LanePass> lane_passes_;
  std::vector<JointPass> joint_passes_;
  std::vector<DirectTable> direct_tables_;
};

}  // namespace residua
