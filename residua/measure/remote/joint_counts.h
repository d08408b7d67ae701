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
