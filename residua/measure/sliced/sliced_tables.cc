#include "residua/measure/sliced/sliced_tables.h"

#include <algorithm>

#include "residua/base/threads.h"
#include "residua/measure/sliced/slice_counter.h"
#include "residua/measure/sliced/sorted_rows.h"

namespace residua {
namespace {

// Visits the rows [begin, end) in parts that are sorted, one after the other.
template <typename Visit>
void ForEachSorted(const SlicePlan& plan, const EncodedTable& table, int64_t begin, int64_t end,
                   const Visit& visit) {
  RowMemory packed_memory;
  RowMemory sorted_memory;
  for (int64_t first = begin; first < end; first += PackedRows::kMostRows) {
    const PackedRows packed(table, first, std::min(first + PackedRows::kMostRows, end),
                            plan.row_digits(), &packed_memory);
    visit(SortedRows(packed, plan, &sorted_memory));
  }
}

template <typename Counter>
std::vector<Counter*> FirstCells(std::span<TableCounters> counters) {
  std::vector<Counter*> cells;
  for (TableCounters& of_table : counters) {
    cells.push_back(std::get<std::vector<Counter>>(of_table.counters()).data());
  }
  return cells;
}

}  // namespace

void SlicedTables::MakeRoom(int64_t rows_so_far) {
  const auto have_room = [&] {
    return std::all_of(counters_.begin(), counters_.end(), [&](const TableCounters& of_table) {
      return of_table.HasRoomFor(rows_so_far);
    });
  };
  {
    const std::shared_lock<std::shared_mutex> lock(widening_);
    if (have_room()) return;
  }
  // Whoever counts without this has seen fewer rows, which narrow counters hold.
  const std::unique_lock<std::shared_mutex> lock(widening_);
  for (TableCounters& of_table : counters_) of_table.MakeWide();
}

void SlicedTables::CountStretch(const SortedRows& rows, size_t stretch) {
  const size_t num_values = plan_.num_values();
  const size_t first = num_values * stretch / kNumStretches;
  const size_t last = num_values * (stretch + 1) / kNumStretches;
  if (counters_.front().is_wide()) {
    CountSlices<uint64_t>(plan_, rows, first, last, FirstCells<uint64_t>(counters_));
  } else {
    CountSlices<uint32_t>(plan_, rows, first, last, FirstCells<uint32_t>(counters_));
  }
}

void SlicedTables::Add(const PackedRows& rows, int64_t rows_so_far, size_t start,
                       const std::stop_token& stop, RowMemory* memory) {
  MakeRoom(rows_so_far);
  const SortedRows sorted(rows, plan_, memory);
  for (size_t k = 0; k < kNumStretches; ++k) {
    CheckNotStopped(stop);
    const size_t stretch = (start + k) % kNumStretches;
    const std::shared_lock<std::shared_mutex> while_narrow(widening_);
    const std::lock_guard<std::mutex> lock(counting_[stretch]);
    CountStretch(sorted, stretch);
  }
}

void SlicedTables::AddAlone(const EncodedTable& rows, int64_t rows_so_far,
                            const std::stop_token& stop) {
  MakeRoom(rows_so_far);
  ForEachSorted(plan_, rows, 0, rows.num_rows(), [&](const SortedRows& sorted) {
    ParallelFor(size_t{0}, kNumStretches, [&](size_t stretch) {
      CheckNotStopped(stop);
      CountStretch(sorted, stretch);
    });
  });
}

template <typename Counter>
void CountSliced(const SlicePlan& plan, const EncodedTable& table, int64_t begin, int64_t end,
                 std::span<Counter* const> counters) {
  ForEachSorted(plan, table, begin, end, [&](const SortedRows& sorted) {
    CountSlices<Counter>(plan, sorted, 0, plan.num_values(), counters);
  });
}

template void CountSliced(const SlicePlan&, const EncodedTable&, int64_t, int64_t,
                          std::span<uint32_t* const>);
template void CountSliced(const SlicePlan&, const EncodedTable&, int64_t, int64_t,
                          std::span<uint64_t* const>);

}  // namespace residua
