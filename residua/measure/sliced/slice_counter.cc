#include "residua/measure/sliced/slice_counter.h"

#include <algorithm>
#include <array>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/vectorised.h"

namespace residua {
namespace {

// Some rows of a slice.
struct PackedRows {
  const uint8_t* digits;
  size_t bytes_per_row;
  size_t num_rows;
};

// The memory of one pass: for each base, `groups` lanes for each of its cells.
struct PassMemory {
  std::array<size_t, kMostBases> bases = {};    // which digits
  std::array<Lanes*, kMostBases> lanes = {};    // of each
  std::array<size_t, kMostGroups> groups = {};  // the digits of the groups
  std::array<const Lanes*, kMostGroups> one_hot = {};
};

// Lanes as the compiler's own vectors, which it adds in registers.
using Vector = uint16_t __attribute__((vector_size(sizeof(Lanes)), may_alias));

template <size_t kBases, size_t kGroups>
[[gnu::always_inline]] inline void AddLanes(const PackedRows& rows, const PassMemory& memory) {
  // A copy, which the additions below cannot change.
  const PassMemory pass = memory;
  const uint8_t* row = rows.digits;
  for (size_t r = 0; r < rows.num_rows; ++r, row += rows.bytes_per_row) {
    Vector added[kGroups];
    for (size_t g = 0; g < kGroups; ++g) {
      added[g] = reinterpret_cast<const Vector&>(pass.one_hot[g][row[pass.groups[g]]]);
    }
    for (size_t b = 0; b < kBases; ++b) {
      Lanes* const lanes = pass.lanes[b] + row[pass.bases[b]] * kGroups;
      for (size_t g = 0; g < kGroups; ++g) reinterpret_cast<Vector&>(lanes[g]) += added[g];
    }
  }
}

using AddLanesFunction = void (*)(const PackedRows&, const PassMemory&);

// For each number of bases and groups, because templates are not compiled for AVX2.
#define RESIDUA_ADD_LANES(bases, groups)                                         \
  RESIDUA_VECTORISED void AddLanes##bases##x##groups(const PackedRows& rows,     \
                                                     const PassMemory& memory) { \
    AddLanes<bases, groups>(rows, memory);                                       \
  }
#define RESIDUA_ADD_LANES_OF(bases) \
  RESIDUA_ADD_LANES(bases, 1)       \
  RESIDUA_ADD_LANES(bases, 2)       \
  RESIDUA_ADD_LANES(bases, 3)       \
  RESIDUA_ADD_LANES(bases, 4)
RESIDUA_ADD_LANES_OF(1)
RESIDUA_ADD_LANES_OF(2)
RESIDUA_ADD_LANES_OF(3)
#undef RESIDUA_ADD_LANES_OF
#undef RESIDUA_ADD_LANES

constexpr std::array<std::array<AddLanesFunction, kMostGroups>, kMostBases> kAddLanes = {{
    {AddLanes1x1, AddLanes1x2, AddLanes1x3, AddLanes1x4},
    {AddLanes2x1, AddLanes2x2, AddLanes2x3, AddLanes2x4},
    {AddLanes3x1, AddLanes3x2, AddLanes3x3, AddLanes3x4},
}};

// sums[i * 16 + l] <- lane l of all cells in which the base attribute has value i. At most as many
// rows as kMostRowsInLanes were added to the lanes: 32 bits hold their sums.
using Sums = std::array<uint32_t, static_cast<size_t>(kMostSliceValues) * kNumLanes>;
RESIDUA_VECTORISED void SumLanes(const uint16_t* __restrict lanes, size_t lanes_per_cell,
                                 const uint8_t* __restrict values, size_t num_cells,
                                 uint32_t* __restrict sums) {
  for (size_t cell = 0; cell < num_cells; ++cell, lanes += lanes_per_cell) {
    uint32_t* const sum = sums + values[cell] * kNumLanes;
    for (size_t lane = 0; lane < kNumLanes; ++lane) sum[lane] += lanes[lane];
  }
}

template <typename Counter>
void AddJoint(const Digit& digit, const std::vector<JointTable>& tables,
              std::span<const uint32_t> counts, size_t value, std::span<Counter* const> counters) {
  for (const JointTable& joint : tables) {
    Counter* const table = counters[joint.table] + value * joint.strides.slice;
    for (size_t cell = 0; cell < counts.size(); ++cell) {
      table[digit.values[joint.first][cell] * joint.strides.first +
            digit.values[joint.second][cell] * joint.strides.second] += counts[cell];
    }
  }
}

// Adds rows to a slice of a table, whose first cell is given. Meanwhile `next`, which is counted
// afterwards, is fetched into the cache line by line: at random, it would be waited for.
template <typename Counter>
[[gnu::noinline]] void CountTwoDigits(const PackedRows& rows, const DirectTable& direct,
                                      Counter* table, std::span<const Counter> next) {
  constexpr size_t kRowsPerFetch = 32;
  constexpr size_t kCountersPerLine = 64 / sizeof(Counter);
  const size_t num_blocks = (rows.num_rows + kRowsPerFetch - 1) / kRowsPerFetch;
  const size_t num_lines = (next.size() + kCountersPerLine - 1) / kCountersPerLine;
  // Few rows touch few lines.
  const size_t lines_per_block =
      num_lines > 2 * rows.num_rows ? 0 : (num_lines + num_blocks - 1) / num_blocks;
  const auto first_stride = static_cast<uint32_t>(direct.strides.first);
  const auto second_stride = static_cast<uint32_t>(direct.strides.second);
  const size_t bytes_per_row = rows.bytes_per_row;
  const uint8_t* first = rows.digits + direct.first;
  const uint8_t* second = rows.digits + direct.second;
  size_t line = 0;
  for (size_t done = 0; done < rows.num_rows; done += kRowsPerFetch) {
    const size_t last_line = std::min(line + lines_per_block, num_lines);
    for (; line < last_line; ++line) __builtin_prefetch(next.data() + line * kCountersPerLine, 1);
    const size_t num_rows = std::min(kRowsPerFetch, rows.num_rows - done);
    for (size_t r = 0; r < num_rows; ++r) {
      // At most 2^24 cells.
      ++table[*first * first_stride + *second * second_stride];
      first += bytes_per_row;
      second += bytes_per_row;
    }
  }
}

template <typename Counter>
class SliceCounter {
 public:
  SliceCounter(const SlicePlan& plan, std::span<Counter* const> tables)
      : plan_(plan), tables_(tables) {
    size_t most_lanes = 0;
    for (const LanePass& pass : plan.lane_passes()) {
      size_t num_lanes = 0;
      for (const size_t base : pass.bases) {
        num_lanes += plan.digits()[base].num_cells * pass.groups.size();
      }
      most_lanes = std::max(most_lanes, num_lanes);
    }
    lanes_.assign(most_lanes, Lanes{});
  }

  void Count(const PackedRows& rows, size_t value) {
    for (size_t k = 0; k < plan_.direct_tables().size(); ++k) CountDirectly(k, rows, value);
    for (size_t done = 0; done < rows.num_rows; done += kMostRowsInLanes) {
      const PackedRows some{rows.digits + done * rows.bytes_per_row, rows.bytes_per_row,
                            std::min(kMostRowsInLanes, rows.num_rows - done)};
      for (const LanePass& pass : plan_.lane_passes()) CountInLanes(pass, some, value);
      for (const JointPass& pass : plan_.joint_passes()) CountJoint(pass, some, value);
    }
  }

 private:
  void CountDirectly(size_t k, const PackedRows& rows, size_t value) {
    const DirectTable& direct = plan_.direct_tables()[k];
    const bool is_last = k + 1 == plan_.direct_tables().size();
    CountTwoDigits(rows, direct, tables_[direct.table] + value * direct.strides.slice,
                   is_last ? SliceMemory(plan_.direct_tables().front(), value + 1)
                           : SliceMemory(plan_.direct_tables()[k + 1], value));
  }

  // The counters of a slice, if they are contiguous.
  std::span<const Counter> SliceMemory(const DirectTable& direct, size_t value) const {
    const size_t num_cells =
        plan_.digits()[direct.first].num_cells * plan_.digits()[direct.second].num_cells;
    if (direct.strides.slice < num_cells || value >= plan_.num_values()) return {};
    return {tables_[direct.table] + value * direct.strides.slice, num_cells};
  }

  void CountInLanes(const LanePass& pass, const PackedRows& rows, size_t value) {
    const size_t num_groups = pass.groups.size();
    PassMemory memory;
    size_t used = 0;
    for (size_t b = 0; b < pass.bases.size(); ++b) {
      memory.bases[b] = pass.bases[b];
      memory.lanes[b] = lanes_.data() + used;
      used += plan_.digits()[pass.bases[b]].num_cells * num_groups;
    }
    for (size_t g = 0; g < num_groups; ++g) {
      memory.groups[g] = plan_.groups()[pass.groups[g]].digit;
      memory.one_hot[g] = plan_.groups()[pass.groups[g]].one_hot.data();
    }
    kAddLanes[pass.bases.size() - 1][num_groups - 1](rows, memory);
    for (size_t b = 0; b < pass.bases.size(); ++b) {
      const Digit& digit = plan_.digits()[pass.bases[b]];
      for (size_t g = 0; g < num_groups; ++g) {
        AddSums(digit, pass.tables[b][g], memory.lanes[b] + g, num_groups, value);
      }
      if (!pass.joints[b].empty()) {
        AddJoint<Counter>(
            digit, pass.joints[b],
            JointOf(digit, plan_.groups()[pass.groups[0]], memory.lanes[b], num_groups), value,
            tables_);
      }
    }
    std::fill_n(lanes_.data(), used, Lanes{});
  }

  // From the lanes of one group, each cell's of which are `stride` lanes apart.
  void AddSums(const Digit& digit, const std::vector<LaneTable>& tables, const Lanes* lanes,
               size_t stride, size_t value) {
    for (size_t base = 0; base < digit.attributes.size(); ++base) {
      const auto is_of_base = [&](const LaneTable& table) { return table.base == base; };
      if (std::none_of(tables.begin(), tables.end(), is_of_base)) continue;
      const auto size = static_cast<size_t>(digit.sizes[base]);
      std::fill_n(sums_.begin(), size * kNumLanes, 0);
      SumLanes(reinterpret_cast<const uint16_t*>(lanes), stride * kNumLanes,
               digit.values[base].data(), digit.num_cells, sums_.data());
      for (const LaneTable& of : tables) {
        if (!is_of_base(of)) continue;
        Counter* to = tables_[of.table] + value * of.strides.slice;
        const uint32_t* from = sums_.data() + of.first_lane;
        for (size_t i = 0; i < size; ++i, to += of.strides.first, from += kNumLanes) {
          for (size_t j = 0; j < of.num_values; ++j) to[j * of.strides.second] += from[j];
        }
      }
    }
  }

  // A row adds 1 to just one lane of each attribute: those of the first one add up to the rows.
  std::span<const uint32_t> JointOf(const Digit& digit, const LaneGroup& group, const Lanes* lanes,
                                    size_t stride) {
    const size_t num_lanes =
        group.attributes.size() > 1 ? group.first_lanes[1] : kNumLanes;  // others are 0
    for (size_t cell = 0; cell < digit.num_cells; ++cell) {
      joint_[cell] = 0;
      for (size_t lane = 0; lane < num_lanes; ++lane)
        joint_[cell] += lanes[cell * stride].lane[lane];
    }
    return std::span(joint_).first(digit.num_cells);
  }

  void CountJoint(const JointPass& pass, const PackedRows& rows, size_t value) {
    const Digit& digit = plan_.digits()[pass.digit];
    joint_.fill(0);
    const uint8_t* row = rows.digits + pass.digit;
    for (size_t r = 0; r < rows.num_rows; ++r, row += rows.bytes_per_row) ++joint_[*row];
    AddJoint<Counter>(digit, pass.tables, std::span(joint_).first(digit.num_cells), value, tables_);
  }

  const SlicePlan& plan_;
  std::span<Counter* const> tables_;
  std::vector<Lanes> lanes_;  // zero between passes
  Sums sums_;
  std::array<uint32_t, static_cast<size_t>(kMostSliceValues)> joint_;
};

}  // namespace

template <typename Counter>
void CountSlices(const SlicePlan& plan, const SortedRows& rows, size_t first_value,
                 size_t last_value, std::span<Counter* const> tables) {
  RESIDUA_CHECK(tables.size() == plan.tables().size() && last_value <= plan.num_values());
  SliceCounter<Counter> counter(plan, tables);
  for (size_t value = first_value; value < last_value; ++value) {
    if (rows.num_rows(value) == 0) continue;
    counter.Count({rows.digits(value), rows.bytes_per_row(), rows.num_rows(value)}, value);
  }
}

template void CountSlices(const SlicePlan&, const SortedRows&, size_t, size_t,
                          std::span<uint32_t* const>);
template void CountSlices(const SlicePlan&, const SortedRows&, size_t, size_t,
                          std::span<uint64_t* const>);

}  // namespace residua
