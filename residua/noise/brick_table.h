#pragma once

#include <cstdint>
#include <vector>

#include "residua/base/int128.h"
#include "residua/noise/acceptance.h"
#include "residua/noise/bit_source.h"

namespace residua {

// The graph of f(x) = exp(-x^2 / (2 variance)) covered by bricks 2^`log2_width` wide and 1/`height`
// high, no two overlapping. Column k, -`num_columns` <= k < `num_columns`, holds the integers
// [k, k+1) 2^log2_width. With c_k >= height max f and n_k <= height min f over the column,
//   bricks r < n_k lie wholly below f: all their integers are accepted (interior);
//   bricks n_k <= r < c_k are cut by f: x is accepted with probability height f(x) - r (edge);
//   two more bricks stand for the two tails beyond X0 = num_columns 2^log2_width.
// A brick is drawn as a number of `log2_bricks` bits: the interior ones come first, then the edges,
// the right tail, the left tail; numbers past that are rejected.
//
// Tail brick: i with probability 2^-(i+1), j uniform on 2^tail_log2_width integers, d = i
// 2^tail_log2_width + j, x = X0 + d or -X0 - 1 - d, accepted with probability
// height 2^(i + 1 + tail_log2_width - log2_width) f(x).
//
// The inequalities this needs are checked in integers by MakeBrickTable; docs/sampler.md has the
// proofs.
struct BrickTable {
  struct Edge {
    int16_t column;
    uint16_t level;
  };

  int log2_bricks;
  int log2_width;
  int num_columns;
  uint64_t height;
  int tail_log2_width;
  std::vector<int16_t> interior;  // brick -> column
  std::vector<Edge> edges;
};

// From 4096 bricks, which build in microseconds and stay in the first-level cache, to 65536, of
// which 2 % are edges.
inline constexpr int kMinLog2Bricks = 12;
inline constexpr int kMaxLog2Bricks = 16;

// `standard_deviation` only chooses the width; no inequality depends on it.
BrickTable MakeBrickTable(const Acceptance& acceptance, double standard_deviation, int log2_bricks);

// What becomes of brick number `brick` when it is not interior; `offset` is the place within it.
struct BrickOutcome {
  bool accepted;
  Int128 value;
};
BrickOutcome ResolveBrick(const BrickTable& table, const Acceptance& acceptance, uint64_t brick,
                          uint64_t offset, BitReader& reader);

}  // namespace residua
