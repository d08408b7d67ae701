#include "residua/noise/brick_table.h"

#include <algorithm>
#include <cmath>

#include "residua/base/error.h"

namespace residua {
namespace {

// Bounds on 2^64 f over one column.
struct ColumnBounds {
  UInt128 max;
  UInt128 min;
};

// The columns k = a and k = -a - 1.
struct ColumnPair {
  ColumnBounds right;
  ColumnBounds left;
};

uint64_t CeilShift64(UInt128 value) {
  const auto whole = static_cast<uint64_t>(value >> 64);
  return static_cast<uint64_t>(value) == 0 ? whole : whole + 1;
}

uint64_t NumBricks(const ColumnBounds& column, uint64_t height) {
  return CeilShift64(height * column.max);
}

uint64_t NumInterior(const ColumnBounds& column, uint64_t height) {
  return static_cast<uint64_t>((height * column.min) >> 64);
}

// With K columns on each side, there are about 2 (K + height) edges, K is about 4.5 s and height
// about 2^log2_bricks / (2.5 s), where s is the standard deviation in columns: fewest at
// s = 2^(log2_bricks / 2) / 3.35.
int ChooseLog2Width(double standard_deviation, int log2_bricks) {
  const double best_columns = std::exp2(0.5 * log2_bricks) / 3.35;
  const double log2_width = std::round(std::log2(standard_deviation / best_columns));
  return std::max(0, static_cast<int>(log2_width));
}

// The tails beyond `num_columns` columns on each side, X0 = num_columns 2^log2_width.
struct TailBounds {
  int log2_width;
  UInt128 start_density;  // not below 2^64 f(X0)
};

TailBounds MakeTail(const Acceptance& acceptance, int num_columns, int log2_width) {
  // f at least halves every 2^(tail log2_width) integers from X0 on: 2 kappa X0 2^(tail log2_width)
  // >= 1, with kappa replaced by mantissa 2^-exponent, which is not above it.
  const UInt128 factor =
      static_cast<UInt128>(acceptance.rate().mantissa) * static_cast<uint64_t>(num_columns);
  int tail_log2_width = log2_width;
  for (;; ++tail_log2_width) {
    const int missing = acceptance.rate().exponent - 1 - log2_width - tail_log2_width;
    if (missing <= 0 || (missing < 128 && factor >= static_cast<UInt128>(1) << missing)) break;
  }
  const UInt128 start = static_cast<UInt128>(num_columns) << log2_width;
  return {tail_log2_width, acceptance.Enclose(start, 1, 0).upper};
}

// 2 height f(X0) 2^(tail.log2_width - log2_width) <= 1.
bool TailFitsOneBrick(const TailBounds& tail, int log2_width, uint64_t height) {
  const int shift = 1 + tail.log2_width - log2_width;
  return shift < 64 && height * tail.start_density <= static_cast<UInt128>(1) << (64 - shift);
}

// Everything that does not depend on the height, from 0 outwards.
class Columns {
 public:
  Columns(const Acceptance& acceptance, int log2_width, int log2_bricks)
      : acceptance_(acceptance), log2_width_(log2_width), log2_bricks_(log2_bricks) {
    do {
      AddPair();
      RESIDUA_CHECK(pairs_.size() < INT16_MAX);
    } while (!TailFitsOneBrick(tails_.back(), log2_width_, MaxHeight()));
  }

  uint64_t MaxHeight() const { return (uint64_t{1} << log2_bricks_) - 1; }

  // The smallest number of columns on each side beyond which the tails fit into two bricks.
  int NumColumns(uint64_t height) const {
    const auto fits = [&](const TailBounds& tail) {
      return TailFitsOneBrick(tail, log2_width_, height);
    };
    const auto found = std::find_if(tails_.begin(), tails_.end(), fits);
    RESIDUA_CHECK(found != tails_.end());
    return static_cast<int>(found - tails_.begin()) + 1;
  }

  bool Fits(uint64_t height) const {
    uint64_t total = 2;
    const int num_columns = NumColumns(height);
    for (int a = 0; a < num_columns; ++a) {
      total += NumBricks(pairs_[a].right, height) + NumBricks(pairs_[a].left, height);
    }
    return total <= uint64_t{1} << log2_bricks_;
  }

  const ColumnPair& Pair(int a) const { return pairs_[a]; }
  const TailBounds& Tail(int num_columns) const { return tails_[num_columns - 1]; }

 private:
  // f decreases in |x|, which runs over [a, a+1) width on the right and (a, a+1] width on the left.
  void AddPair() {
    const UInt128 start = static_cast<UInt128>(pairs_.size()) << log2_width_;
    const UInt128 end = static_cast<UInt128>(pairs_.size() + 1) << log2_width_;
    pairs_.push_back(
        {{acceptance_.Enclose(start, 1, 0).upper, acceptance_.Enclose(end - 1, 1, 0).lower},
         {acceptance_.Enclose(start + 1, 1, 0).upper, acceptance_.Enclose(end, 1, 0).lower}});
    tails_.push_back(MakeTail(acceptance_, static_cast<int>(pairs_.size()), log2_width_));
  }

  const Acceptance& acceptance_;
  int log2_width_;
  int log2_bricks_;
  std::vector<ColumnPair> pairs_;
  std::vector<TailBounds> tails_;  // tails_[n - 1] is beyond n columns on each side
};

void LayColumn(const ColumnBounds& column, int k, BrickTable* table) {
  const uint64_t num_bricks = NumBricks(column, table->height);
  const uint64_t num_interior = std::min(NumInterior(column, table->height), num_bricks);
  const auto index = static_cast<int16_t>(k);
  table->interior.insert(table->interior.end(), num_interior, index);
  for (uint64_t level = num_interior; level < num_bricks; ++level) {
    table->edges.push_back({index, static_cast<uint16_t>(level)});
  }
}

}  // namespace

BrickTable MakeBrickTable(const Acceptance& acceptance, double standard_deviation,
                          int log2_bricks) {
  RESIDUA_CHECK(log2_bricks >= kMinLog2Bricks && log2_bricks <= kMaxLog2Bricks);
  const int log2_width = ChooseLog2Width(standard_deviation, log2_bricks);
  RESIDUA_CHECK(log2_width < 60);
  const Columns columns(acceptance, log2_width, log2_bricks);

  // The greatest height whose bricks can be numbered: less than one brick in 2^log2_bricks / height
  // is then wasted.
  uint64_t height = 1;
  uint64_t too_high = columns.MaxHeight() + 1;
  RESIDUA_CHECK(columns.Fits(height));
  while (too_high - height > 1) {
    const uint64_t middle = (height + too_high) / 2;
    (columns.Fits(middle) ? height : too_high) = middle;
  }

  const int num_columns = columns.NumColumns(height);
  const TailBounds& tail = columns.Tail(num_columns);
  BrickTable table{.log2_bricks = log2_bricks,
                   .log2_width = log2_width,
                   .num_columns = num_columns,
                   .height = height,
                   .tail_log2_width = tail.log2_width,
                   .interior = {},
                   .edges = {}};
  for (int a = 0; a < num_columns; ++a) {
    LayColumn(columns.Pair(a).right, a, &table);
    LayColumn(columns.Pair(a).left, -a - 1, &table);
  }
  RESIDUA_CHECK(table.interior.size() + table.edges.size() + 2 <= size_t{1} << log2_bricks);
  RESIDUA_CHECK(TailFitsOneBrick(tail, log2_width, height) && tail.log2_width < 64);
  return table;
}

BrickOutcome ResolveBrick(const BrickTable& table, const Acceptance& acceptance, uint64_t brick,
                          uint64_t offset, BitReader& reader) {
  const uint64_t past_interior = brick - table.interior.size();
  if (past_interior < table.edges.size()) {
    const BrickTable::Edge edge = table.edges[past_interior];
    const Int128 width = static_cast<Int128>(1) << table.log2_width;
    const Int128 x = edge.column * width + static_cast<Int128>(offset);
    const auto magnitude = static_cast<UInt128>(x < 0 ? -x : x);
    return {acceptance.Accept(magnitude, table.height, edge.level, 0, reader), x};
  }
  const uint64_t tail = past_interior - table.edges.size();
  if (tail >= 2) return {false, 0};
  const bool negative = tail == 1;
  const uint64_t i = reader.Geometric();
  const uint64_t j = reader.Next() & ((uint64_t{1} << table.tail_log2_width) - 1);
  const UInt128 start = static_cast<UInt128>(table.num_columns) << table.log2_width;
  const UInt128 magnitude = start + (static_cast<UInt128>(i) << table.tail_log2_width) + j +
                            static_cast<uint64_t>(negative);
  const int shift = static_cast<int>(i) + 1 + table.tail_log2_width - table.log2_width;
  const bool accepted = acceptance.Accept(magnitude, table.height, 0, shift, reader);
  return {accepted, negative ? -static_cast<Int128>(magnitude) : static_cast<Int128>(magnitude)};
}

}  // namespace residua
