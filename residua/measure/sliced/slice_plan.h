#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "residua/measure/sliced/row_digits.h"
#include "residua/model/domain.h"

namespace residua {

// Rows that are sorted by one attribute, the slice attribute, form a slice for each of its values.
// Within a slice a table of three attributes is one of two: its counters stay in the first-level
// cache, and small attributes are counted side by side. A SlicePlan says how; it follows from the
// domain and the tables alone, which are public.

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

// Adds the lanes of a group to those of the row's cell in each base, which are digits. tables[b] are
// fed from bases[b].
struct LanePass {
  size_t group = 0;
  std::vector<size_t> bases;
  std::vector<std::vector<LaneTable>> tables;
};

// A table of two attributes of one digit, or of two digits: their places in these.
struct JointTable {
  size_t table = 0;
  size_t first = 0;
  size_t second = 0;
  Strides strides;
};

// Digits whose cells are counted together, one by one, `outer` by `inner`: for tables of two
// attributes of one of them, and of one attribute of each.
struct JointPass {
  size_t outer = 0;
  size_t inner = 0;
  std::vector<JointTable> within_outer;
  std::vector<JointTable> within_inner;
  std::vector<JointTable> across;  // first: in `outer`, second: in `inner`
};
// Their counters of 16 bits take half of a first-level cache of 32 KiB.
inline constexpr size_t kMostJointCells = 8192;

// A table that is counted cell by cell, in place. The second digit has the smaller stride.
struct DirectTable {
  size_t table = 0;
  size_t first = 0;  // digits
  size_t second = 0;
  Strides strides;
};

class SlicePlan {
 public:
  // `digits` are those of slices that include `sets`.
  SlicePlan(const Domain& domain, SlicedSets sets, std::shared_ptr<const RowDigits> digits);

  int slice() const { return sets_.slice; }
  size_t num_values() const { return num_values_; }
  const std::vector<AttributeSet>& tables() const { return sets_.tables; }
  const RowDigits& row_digits() const { return *digits_; }
  const std::vector<Digit>& digits() const { return digits_->digits(); }
  const std::vector<LanePass>& lane_passes() const { return lane_passes_; }
  const std::vector<JointPass>& joint_passes() const { return joint_passes_; }
  const std::vector<DirectTable>& direct_tables() const { return direct_tables_; }

  // The first bytes of a packed row, which have all digits that the tables need: half a word, or
  // whole words.
  size_t bytes_per_row() const { return bytes_per_row_; }

  // Additions to memory for each row, wide or not.
  int64_t num_additions() const;
  // Estimated nanoseconds, as measured, for `num_rows` rows that are counted together.
  double Cost(double num_rows) const;

 private:
  Strides StridesOf(const Domain& domain, const AttributeSet& table, int first, int second) const;
  LaneTable LaneTableOf(const Domain& domain, size_t table, int base, int in_lanes) const;
  void AddPasses(const Domain& domain);
  LanePass& PassWithRoom(size_t group, size_t num_cells);
  bool AreCountedTogether(size_t outer, size_t inner) const;

  SlicedSets sets_;
  size_t num_values_;
  std::shared_ptr<const RowDigits> digits_;
  size_t bytes_per_row_;
  std::vector<LanePass> lane_passes_;
  std::vector<JointPass> joint_passes_;
  std::vector<DirectTable> direct_tables_;
};

}  // namespace residua
