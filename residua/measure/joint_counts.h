#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/measure/counted_rows.h"
#include "residua/model/domain.h"

namespace residua {

// The true counts of all attributes of a domain together, of rows that were counted where they are.
// As private as a TrueMarginal: it gives nothing away but CountedRows, which is measured.
class JointCounts {
 public:
  // One counter for each takes 8 MiB, and so many numbers are soon sent.
  static constexpr int64_t kMaxCells = int64_t{1} << 20;
  // The number of cells; Error{kTooLarge} beyond kMaxCells, Error{kBadInput} for an attribute whose
  // mean is asked: its rows have numbers, not cells.
  static int64_t NumCells(const Domain& domain);

  // Error{kTooLarge} for what cannot be counted so, whatever the rows: also if CountedRows would
  // hold rows. The domain must outlive this.
  JointCounts(const Domain& domain, std::vector<AttributeSet> sets, const CountingOptions& options);

  // `num_rows` rows, at least 0, have these cells: one of each attribute. Error{kTooLarge} if there
  // are more rows than 64 bits count.
  void Add(std::span<const int32_t> cells, int64_t num_rows);

  // The rows, ready to be measured, as if they had been counted one by one.
  CountedRows Take() &&;

 private:
  const Domain& domain_;
  CountedRows rows_;
  int64_t num_rows_ = 0;
  std::vector<uint64_t> counters_;  // row-major, the last attribute fastest
};

}  // namespace residua
