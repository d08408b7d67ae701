#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "residua/measure/sliced/lane_adder.h"
#include "residua/measure/sliced/packed_rows.h"
#include "residua/measure/sliced/slice_plan.h"

namespace residua {

// Packed rows, sorted by the slice attribute of a SlicePlan: the bytes that it needs of each.
class SortedRows {
 public:
  // Kept in `memory`, which must outlive this.
  SortedRows(const PackedRows& rows, const SlicePlan& plan, RowMemory* memory);

  // The rows with one value of the slice attribute.
  RowBytes slice(size_t value) const {
    return {bytes_ + starts_[value] * bytes_per_row_, bytes_per_row_,
            starts_[value + 1] - starts_[value]};
  }

 private:
  const uint8_t* bytes_;
  size_t bytes_per_row_;
  std::vector<size_t> starts_;
};

}  // namespace residua
