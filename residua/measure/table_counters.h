#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "residua/measure/encoded_table.h"
#include "residua/model/attribute_set.h"

namespace residua {

// The counts of one table's cells. As private as a TrueMarginal: it stays in measure/.
using Counters = std::variant<std::vector<uint32_t>, std::vector<uint64_t>>;

// Counts one table over rows that come part by part. No counter can wrap: none exceeds what all rows
// add, and the counters become 64-bit before that is more than 32 bits hold. `max_narrow_rows` is
// the number of rows that do not, fewer where a row adds more than 1.
class TableCounters {
 public:
  explicit TableCounters(int64_t num_cells,
                         int64_t max_narrow_rows = std::numeric_limits<uint32_t>::max());
  // What was counted of `num_rows` rows before.
  TableCounters(std::vector<uint64_t> counters, int64_t num_rows)
      : counters_(std::move(counters)), num_rows_(num_rows), max_narrow_rows_(0) {}

  // Adds the rows, whose cells are those of `attributes`.
  void Add(const EncodedTable& rows, const AttributeSet& attributes);

  // For those who add to the counters themselves (SlicedTables). Where `num_rows` rows in all may be
  // too many for the counters, these must become wide before any more is added.
  bool is_wide() const { return std::holds_alternative<std::vector<uint64_t>>(counters_); }
  bool HasRoomFor(int64_t num_rows) const { return is_wide() || num_rows <= max_narrow_rows_; }
  void MakeWide();
  Counters& counters() { return counters_; }

  // The counts; nothing is left.
  Counters Take() { return std::move(counters_); }

 private:
  Counters counters_;
  int64_t num_rows_ = 0;
  int64_t max_narrow_rows_;
};

}  // namespace residua
