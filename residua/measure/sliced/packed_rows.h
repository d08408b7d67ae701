#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "residua/measure/encoded_table.h"
#include "residua/measure/sliced/row_digits.h"

namespace residua {

// Memory for rows, to be used again: fresh memory takes as long to get as to sort them.
class RowMemory {
 public:
  // Room for so many words; what was there is lost where it must become larger.
  uint64_t* Words(size_t num_words);

 private:
  std::unique_ptr<uint64_t[]> words_;
  size_t num_words_ = 0;
};

// Rows in the digits of RowDigits, in their order.
class PackedRows {
 public:
  // More rows are packed and sorted in parts: the memory does not grow with their number.
  static constexpr int64_t kMostRows = int64_t{1} << 21;

  // The rows [begin, end), at most kMostRows, of a table of the digits' domain. They are kept in
  // `memory`; both it and the table must outlive this.
  PackedRows(const EncodedTable& table, int64_t begin, int64_t end, const RowDigits& digits,
             RowMemory* memory);

  size_t num_rows() const { return num_rows_; }
  size_t words_per_row() const { return words_per_row_; }
  const uint64_t* words() const { return words_; }
  // The codes of an attribute of at most 256 values, one for each row.
  const uint8_t* codes(int attribute) const;

 private:
  const EncodedTable& table_;
  int64_t begin_;
  size_t num_rows_;
  size_t words_per_row_;
  const uint64_t* words_;
};

}  // namespace residua
