#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <vector>

#include "residua/base/stop.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/sliced/packed_rows.h"
#include "residua/measure/sliced/slice_plan.h"
#include "residua/measure/sliced/sorted_rows.h"
#include "residua/measure/table_counters.h"

namespace residua {

// The tables of a SlicePlan, counted over rows that come part by part.
class SlicedTables {
 public:
  // `counters` are those of the plan's tables, in its order. What this refers to must outlive it.
  SlicedTables(const SlicePlan& plan, std::span<TableCounters> counters)
      : plan_(plan), counters_(counters) {}

  // Adds the rows, packed into the plan's digits. Several threads may do so at once: each begins with
  // values of its own, as `start` says. `rows_so_far` are all rows that were or are being added,
  // these included. `memory` is the caller's.
  void Add(const PackedRows& rows, int64_t rows_so_far, size_t start, const std::stop_token& stop,
           RowMemory* memory);
  // The same while no other thread adds any: the caller's threads count together.
  void AddAlone(const EncodedTable& rows, int64_t rows_so_far, const std::stop_token& stop);

 private:
  // Values are shared between threads in so many stretches.
  static constexpr size_t kNumStretches = 8;

  void MakeRoom(int64_t rows_so_far);
  void CountStretch(const SortedRows& rows, size_t stretch);

  const SlicePlan& plan_;
  std::span<TableCounters> counters_;
  std::shared_mutex widening_;  // shared by those who count
  std::array<std::mutex, kNumStretches> counting_;
};

// The counters of the plan's tables, over the rows [begin, end) of `table`.
template <typename Counter>
void CountSliced(const SlicePlan& plan, const EncodedTable& table, int64_t begin, int64_t end,
                 std::span<Counter* const> counters);

extern template void CountSliced(const SlicePlan&, const EncodedTable&, int64_t, int64_t,
                                 std::span<uint32_t* const>);
extern template void CountSliced(const SlicePlan&, const EncodedTable&, int64_t, int64_t,
                                 std::span<uint64_t* const>);

}  // namespace residua
