#pragma once

#include <cstdint>
#include <span>

#include "residua/measure/sliced/lane_adder.h"
#include "residua/measure/sliced/slice_plan.h"
#include "residua/measure/sliced/sorted_rows.h"

namespace residua {

// Adds the rows whose slice attribute has a value in [first_value, last_value) to the counters of
// the plan's tables, which are given by their first cells. Threads may count different values at
// once: they write to different cells. The counts are the same with vectors of any width.
template <typename Counter>
void CountSlices(const SlicePlan& plan, const SortedRows& rows, size_t first_value,
                 size_t last_value, std::span<Counter* const> tables,
                 VectorWidth width = WidthsOfThisProcessor().back());

extern template void CountSlices(const SlicePlan&, const SortedRows&, size_t, size_t,
                                 std::span<uint32_t* const>, VectorWidth);
extern template void CountSlices(const SlicePlan&, const SortedRows&, size_t, size_t,
                                 std::span<uint64_t* const>, VectorWidth);

}  // namespace residua
