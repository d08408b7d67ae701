#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "residua/measure/encoded_table.h"
#include "residua/measure/sliced/slice_plan.h"

namespace residua {

// Rows, packed into the digits of a SlicePlan and sorted by its slice attribute.
class SortedRows {
 public:
  // More rows are sorted in parts: the memory does not grow with their number.
  static constexpr int64_t kMostRows = int64_t{1} << 21;

  // Memory for sorted rows, to be used again: fresh memory takes as long to get as to sort.
  struct Memory {
    std::unique_ptr<uint64_t[]> words;
    size_t num_words = 0;
  };

  // The rows [begin, end), at most kMostRows, of a table of the plan's domain. They are kept in
  // `memory`, which must outlive this and is made larger where needed.
  SortedRows(const EncodedTable& table, int64_t begin, int64_t end, const SlicePlan& plan,
             Memory* memory);

  size_t bytes_per_row() const { return words_per_row_ * sizeof(uint64_t); }
  // The rows with one value of the slice attribute: their digits, one row after the other.
  const uint8_t* digits(size_t value) const {
    return reinterpret_cast<const uint8_t*>(words_) + starts_[value] * bytes_per_row();
  }
  size_t num_rows(size_t value) const { return starts_[value + 1] - starts_[value]; }

 private:
  const uint64_t* words_ = nullptr;
  size_t words_per_row_;
  std::vector<size_t> starts_;
};

}  // namespace residua
