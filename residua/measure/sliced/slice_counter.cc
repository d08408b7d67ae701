#include "residua/measure/sliced/slice_counter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/vectorised.h"

namespace residua {
namespace {

// Lanes are emptied into sums of 16 bits, which hold the rows of a slice between two additions to
// the tables: at most so many. Counters of joint passes have 16 bits too.
constexpr size_t kMostRowsInSums = 65535;
struct alignas(kNumLanes) LaneSums {
  std::array<uint16_t, kNumLanes> lane;
};

// sums <- sums + lanes, and the lanes become 0.
RESIDUA_VECTORISED void EmptyLanes(uint8_t* __restrict lanes, uint16_t* __restrict sums) {
  for (size_t l = 0; l < kNumLanes; ++l) sums[l] = static_cast<uint16_t>(sums[l] + lanes[l]);
  std::memset(lanes, 0, kNumLanes);
}

// totals <- sums + lanes, and both become 0. Returns whether any is not 0.
RESIDUA_VECTORISED bool TakeTotals(uint8_t* __restrict lanes, uint16_t* __restrict sums,
                                   uint16_t* __restrict totals) {
  uint16_t any = 0;
  for (size_t l = 0; l < kNumLanes; ++l) {
    totals[l] = static_cast<uint16_t>(sums[l] + lanes[l]);
    any |= totals[l];
    sums[l] = 0;
  }
  std::memset(lanes, 0, kNumLanes);
  return any != 0;
}

RESIDUA_VECTORISED void AddSums(const uint16_t* __restrict from, uint16_t* __restrict to) {
  for (size_t l = 0; l < kNumLanes; ++l) to[l] = static_cast<uint16_t>(to[l] + from[l]);
}

// largest[cell] <- at least the largest lane of each cell, and less than twice as much.
RESIDUA_VECTORISED void FindLargest(const uint8_t* __restrict lanes, size_t num_cells,
                                    uint8_t* __restrict largest) {
  for (size_t cell = 0; cell < num_cells; ++cell) {
    uint8_t any = 0;
    for (size_t l = 0; l < kNumLanes; ++l) any |= lanes[cell * kNumLanes + l];
    largest[cell] = any;
  }
}

// When one lane is full, those that have come half as far are emptied too: looking through all lanes
// costs more.
constexpr uint8_t kNearlyFullLane = kFullLane / 2;

RESIDUA_VECTORISED void AddCells(const uint16_t* __restrict from, size_t num_cells,
                                 uint16_t* __restrict to) {
  for (size_t c = 0; c < num_cells; ++c) to[c] = static_cast<uint16_t>(to[c] + from[c]);
}

RESIDUA_VECTORISED uint16_t SumOf(const uint16_t* cells, size_t num_cells) {
  uint16_t sum = 0;
  for (size_t c = 0; c < num_cells; ++c) sum = static_cast<uint16_t>(sum + cells[c]);
  return sum;
}

// Visits the first byte of each row, counted from that of the first row; four rows in each round of
// the loop, which takes a third less time.
template <typename Visit>
[[gnu::always_inline]] inline void ForFourRows(const RowBytes& rows, const Visit& visit) {
  const size_t bytes_per_row = rows.bytes_per_row;
  size_t byte = 0;
  size_t r = 0;
  for (; r + 4 <= rows.num_rows; r += 4, byte += 4 * bytes_per_row) {
    visit(byte);
    visit(byte + bytes_per_row);
    visit(byte + 2 * bytes_per_row);
    visit(byte + 3 * bytes_per_row);
  }
  for (; r < rows.num_rows; ++r, byte += bytes_per_row) visit(byte);
}

// Adds rows to a slice of a table, whose first cell is given. Meanwhile `next`, which is counted
// afterwards, is fetched into the cache line by line: at random, it would be waited for.
// `kBytesPerRow` is 0 for any number; `kIsContiguous` says that the second digit has stride 1.
template <size_t kBytesPerRow, bool kIsContiguous, typename Counter>
[[gnu::noinline]] void CountTwoDigits(const RowBytes& rows, const DirectTable& direct,
                                      Counter* table, std::span<const Counter> next) {
  constexpr size_t kRowsPerFetch = 32;
  constexpr size_t kCountersPerLine = 64 / sizeof(Counter);
  const size_t num_blocks = (rows.num_rows + kRowsPerFetch - 1) / kRowsPerFetch;
  const size_t num_lines = (next.size() + kCountersPerLine - 1) / kCountersPerLine;
  // Few rows touch few lines.
  const size_t lines_per_block =
      num_lines > 2 * rows.num_rows ? 0 : (num_lines + num_blocks - 1) / num_blocks;
  // At most 2^24 cells.
  const auto first_stride = static_cast<uint32_t>(direct.strides.first);
  const auto second_stride = kIsContiguous ? 1 : static_cast<uint32_t>(direct.strides.second);
  const size_t bytes_per_row = kBytesPerRow > 0 ? kBytesPerRow : rows.bytes_per_row;
  const uint8_t* first = rows.digits + direct.first;
  const uint8_t* second = rows.digits + direct.second;
  const auto count = [&](size_t k) {
    ++table[first[k * bytes_per_row] * first_stride + second[k * bytes_per_row] * second_stride];
  };
  size_t line = 0;
  for (size_t done = 0; done < rows.num_rows; done += kRowsPerFetch) {
    const size_t last_line = std::min(line + lines_per_block, num_lines);
    for (; line < last_line; ++line) __builtin_prefetch(next.data() + line * kCountersPerLine, 1);
    const size_t num_rows = std::min(kRowsPerFetch, rows.num_rows - done);
    size_t r = 0;
    for (; r + 4 <= num_rows; r += 4) {
      count(0);
      count(1);
      count(2);
      count(3);
      first += 4 * bytes_per_row;
      second += 4 * bytes_per_row;
    }
    for (; r < num_rows; ++r) {
      count(0);
      first += bytes_per_row;
      second += bytes_per_row;
    }
  }
}

template <typename Counter>
class SliceCounter {
 public:
  SliceCounter(const SlicePlan& plan, std::span<Counter* const> tables, VectorWidth width)
      : plan_(plan), tables_(tables) {
    size_t most_cells = 0;
    for (const LanePass& pass : plan.lane_passes()) {
      size_t num_cells = 0;
      for (const size_t base : pass.bases) num_cells += plan.digits()[base].num_cells;
      most_cells = std::max(most_cells, num_cells);
    }
    lanes_.assign(most_cells, Lanes{});
    sums_.assign(most_cells, LaneSums{});
    for (const LanePass& pass : plan.lane_passes()) {
      std::vector<LaneBase> bases;
      size_t used = 0;
      for (const size_t base : pass.bases) {
        bases.push_back({base, lanes_.data() + used});
        used += plan.digits()[base].num_cells;
      }
      adders_.emplace_back(plan.row_digits().groups()[pass.group], bases, width);
    }
  }

  void Count(const RowBytes& rows, size_t value) {
    for (size_t k = 0; k < plan_.direct_tables().size(); ++k) CountDirectly(k, rows, value);
    for (size_t done = 0; done < rows.num_rows; done += kMostRowsInSums) {
      const RowBytes some = Some(rows, done, kMostRowsInSums);
      for (size_t p = 0; p < plan_.lane_passes().size(); ++p) CountInLanes(p, some, value);
      for (const JointPass& pass : plan_.joint_passes()) CountJoint(pass, some, value);
    }
  }

 private:
  static RowBytes Some(const RowBytes& rows, size_t first, size_t most_rows) {
    return {rows.digits + first * rows.bytes_per_row, rows.bytes_per_row,
            std::min(most_rows, rows.num_rows - first)};
  }

  void CountDirectly(size_t k, const RowBytes& rows, size_t value) {
    const DirectTable& direct = plan_.direct_tables()[k];
    const bool is_last = k + 1 == plan_.direct_tables().size();
    Counter* const table = tables_[direct.table] + value * direct.strides.slice;
    const std::span<const Counter> next =
        is_last ? SliceMemory(plan_.direct_tables().front(), value + 1)
                : SliceMemory(plan_.direct_tables()[k + 1], value);
    if (direct.strides.second == 1 && rows.bytes_per_row == 8) {
      CountTwoDigits<8, true>(rows, direct, table, next);
    } else {
      CountTwoDigits<0, false>(rows, direct, table, next);
    }
  }

  // The counters of a slice, if they are contiguous.
  std::span<const Counter> SliceMemory(const DirectTable& direct, size_t value) const {
    const size_t num_cells =
        plan_.digits()[direct.first].num_cells * plan_.digits()[direct.second].num_cells;
    if (direct.strides.slice < num_cells || value >= plan_.num_values()) return {};
    return {tables_[direct.table] + value * direct.strides.slice, num_cells};
  }

  void CountInLanes(size_t p, const RowBytes& rows, size_t value) {
    const LanePass& pass = plan_.lane_passes()[p];
    for (size_t done = 0; done < rows.num_rows; done += kRowsPerAddition) {
      const uint32_t full = adders_[p].Add(Some(rows, done, kRowsPerAddition));
      if (full != 0) EmptyFullLanes(pass, full);
    }
    size_t cell = 0;
    for (size_t b = 0; b < pass.bases.size(); ++b) {
      const Digit& digit = plan_.digits()[pass.bases[b]];
      AddToTables(digit, pass.tables[b], cell, value);
      cell += digit.num_cells;
    }
  }

  // Of the bases whose bits are set.
  void EmptyFullLanes(const LanePass& pass, uint32_t full) {
    size_t first_cell = 0;
    for (size_t b = 0; b < pass.bases.size(); ++b) {
      const size_t num_cells = plan_.digits()[pass.bases[b]].num_cells;
      if ((full >> b & 1) != 0) {
        FindLargest(lanes_[first_cell].lane.data(), num_cells, largest_.data());
        for (size_t c = 0; c < num_cells; ++c) {
          if (largest_[c] < kNearlyFullLane) continue;
          EmptyLanes(lanes_[first_cell + c].lane.data(), sums_[first_cell + c].lane.data());
        }
      }
      first_cell += num_cells;
    }
  }

  // From the lanes and sums of the digit's cells, the first of which is given. They become 0.
  void AddToTables(const Digit& digit, const std::vector<LaneTable>& tables, size_t first_cell,
                   size_t value) {
    const bool is_shared = digit.attributes.size() > 1;
    for (size_t c = 0; c < digit.num_cells; ++c) {
      const size_t cell = first_cell + c;
      LaneSums totals;
      if (!TakeTotals(lanes_[cell].lane.data(), sums_[cell].lane.data(), totals.lane.data())) {
        continue;
      }
      if (is_shared) {
        for (size_t k = 0; k < digit.attributes.size(); ++k) {
          AddSums(totals.lane.data(), by_value_[k][digit.values[k][c]].lane.data());
        }
      } else {
        for (const LaneTable& of : tables) AddRow(of, totals, c, value);
      }
    }
    if (!is_shared) return;
    for (const LaneTable& of : tables) {
      for (size_t i = 0; i < static_cast<size_t>(digit.sizes[of.base]); ++i) {
        AddRow(of, by_value_[of.base][i], i, value);
      }
    }
    for (size_t k = 0; k < digit.attributes.size(); ++k) {
      std::fill_n(by_value_[k].begin(), digit.sizes[k], LaneSums{});
    }
  }

  // The cells of value `i` of the base attribute.
  void AddRow(const LaneTable& of, const LaneSums& sums, size_t i, size_t value) {
    Counter* to = tables_[of.table] + value * of.strides.slice + i * of.strides.first;
    const uint16_t* from = sums.lane.data() + of.first_lane;
    if (of.strides.second == 1) {
      for (size_t j = 0; j < of.num_values; ++j) to[j] += from[j];
    } else {
      for (size_t j = 0; j < of.num_values; ++j) to[j * of.strides.second] += from[j];
    }
  }

  void CountJoint(const JointPass& pass, const RowBytes& rows, size_t value) {
    const Digit& outer = plan_.digits()[pass.outer];
    const Digit& inner = plan_.digits()[pass.inner];
    if (pass.outer == pass.inner) {
      std::fill_n(joint_.begin(), outer.num_cells, 0);
      const uint8_t* const row = rows.digits + pass.outer;
      ForFourRows(rows, [&](size_t byte) { ++joint_[row[byte]]; });
      AddWithin(outer, pass.within_outer, joint_.data(), value);
      return;
    }
    const size_t num_inner = inner.num_cells;
    std::fill_n(joint_.begin(), outer.num_cells * num_inner, 0);
    const uint8_t* const outer_row = rows.digits + pass.outer;
    const uint8_t* const inner_row = rows.digits + pass.inner;
    ForFourRows(rows,
                [&](size_t byte) { ++joint_[outer_row[byte] * num_inner + inner_row[byte]]; });
    // by_outer_[place][value] are the inner cells of the rows with this value.
    std::array<uint16_t, static_cast<size_t>(kMostSliceValues)> outer_sums;
    std::array<uint16_t, static_cast<size_t>(kMostSliceValues)> inner_sums = {};
    size_t num_values = 0;
    std::array<size_t, kMostSharing> first_values;
    for (size_t k = 0; k < outer.attributes.size(); ++k) {
      first_values[k] = num_values;
      num_values += static_cast<size_t>(outer.sizes[k]);
    }
    by_outer_.assign(num_values * num_inner, 0);
    for (size_t c = 0; c < outer.num_cells; ++c) {
      const uint16_t* const counts = joint_.data() + c * num_inner;
      outer_sums[c] = SumOf(counts, num_inner);
      if (outer_sums[c] == 0) continue;
      AddCells(counts, num_inner, inner_sums.data());
      for (size_t k = 0; k < outer.attributes.size(); ++k) {
        const size_t of_value = first_values[k] + outer.values[k][c];
        AddCells(counts, num_inner, by_outer_.data() + of_value * num_inner);
      }
    }
    AddWithin(outer, pass.within_outer, outer_sums.data(), value);
    AddWithin(inner, pass.within_inner, inner_sums.data(), value);
    for (const JointTable& of : pass.across) {
      Counter* to = tables_[of.table] + value * of.strides.slice;
      const uint16_t* from = by_outer_.data() + first_values[of.first] * num_inner;
      const std::vector<uint8_t>& inner_values = inner.values[of.second];
      for (int64_t v = 0; v < outer.sizes[of.first]; ++v) {
        for (size_t c = 0; c < num_inner; ++c) to[inner_values[c] * of.strides.second] += from[c];
        to += of.strides.first;
        from += num_inner;
      }
    }
  }

  // From the counts of a digit's cells.
  void AddWithin(const Digit& digit, const std::vector<JointTable>& tables, const uint16_t* counts,
                 size_t value) {
    for (const JointTable& of : tables) {
      Counter* const table = tables_[of.table] + value * of.strides.slice;
      for (size_t cell = 0; cell < digit.num_cells; ++cell) {
        table[digit.values[of.first][cell] * of.strides.first +
              digit.values[of.second][cell] * of.strides.second] += counts[cell];
      }
    }
  }

  const SlicePlan& plan_;
  std::span<Counter* const> tables_;
  // Of the cells of a pass's bases, one base after the other. Zero between passes.
  std::vector<Lanes> lanes_;
  std::vector<LaneSums> sums_;
  std::array<uint8_t, static_cast<size_t>(kMostSliceValues)> largest_;  // of one base
  std::vector<LaneAdder> adders_;                                       // one for each pass
  // Of each value of each attribute of a digit, which has at most 8 of 2 or more values. Zero between
  // bases.
  std::array<std::array<LaneSums, kMostValuesInLanes>, kMostSharing> by_value_ = {};
  // Of one joint pass.
  std::array<uint16_t, kMostJointCells> joint_;
  std::vector<uint16_t> by_outer_;
};

}  // namespace

template <typename Counter>
void CountSlices(const SlicePlan& plan, const SortedRows& rows, size_t first_value,
                 size_t last_value, std::span<Counter* const> tables, VectorWidth width) {
  RESIDUA_CHECK(tables.size() == plan.tables().size() && last_value <= plan.num_values());
  SliceCounter<Counter> counter(plan, tables, width);
  for (size_t value = first_value; value < last_value; ++value) {
    if (rows.slice(value).num_rows > 0) counter.Count(rows.slice(value), value);
  }
}

template void CountSlices(const SlicePlan&, const SortedRows&, size_t, size_t,
                          std::span<uint32_t* const>, VectorWidth);
template void CountSlices(const SlicePlan&, const SortedRows&, size_t, size_t,
                          std::span<uint64_t* const>, VectorWidth);

}  // namespace residua
