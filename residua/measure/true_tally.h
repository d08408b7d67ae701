#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "residua/base/int128.h"

namespace residua {

// The true counts of some cells, in little memory whatever the number of rows. As private as a
// TrueMarginal: it stays in measure/.
//
// While rows are few, the cell of each is listed. After that every cell has a counter of 8 bits,
// and every 256th row of a cell goes to a further tally, which counts in units of 256. So no
// counter wraps, and a few cells with many rows do not make all counters wide.
class TrueTally {
 public:
  // A listed cell takes 4 bytes, up to twice that while the list grows.
  static constexpr int64_t kMostBytesPerRow = 8;
  // One for the counter, and one for the further tally, which takes little more below a thousand
  // rows per cell: only a 256th of the rows reaches it.
  static constexpr int64_t kMostBytesPerCell = 2;
  // Of so many rows.
  static int64_t MostBytes(int64_t num_cells, int64_t num_rows);

  // At most 2^32 cells.
  explicit TrueTally(int64_t num_cells);

  // One row for each.
  void Add(std::span<const uint32_t> cells);

  // sums[c mod period] += weight * (count of cell c), modulo 2^64 or 2^128.
  void AddTo(uint64_t weight, int64_t period, uint64_t* sums) const;
  void AddTo(UInt128 weight, int64_t period, UInt128* sums) const;

 private:
  template <typename Sum>
  void AddAllTo(Sum weight, int64_t period, Sum* sums) const;
  void Count(std::span<const uint32_t> cells);

  int64_t num_cells_;
  std::vector<uint32_t> listed_;        // rows, while they are few
  std::vector<uint8_t> counters_;       // of each cell, after that
  std::unique_ptr<TrueTally> carried_;  // what the counters passed on, in units of 256
};

}  // namespace residua
