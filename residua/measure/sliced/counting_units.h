#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "residua/measure/counting_plan.h"
#include "residua/measure/sliced/slice_plan.h"
#include "residua/model/domain.h"

namespace residua {

// Tables [first, last) of a plan that are counted together: one table, or those with the same slice
// attribute.
struct CountingUnit {
  size_t first = 0;
  size_t last = 0;
  std::optional<SlicePlan> slices = {};
};

std::vector<CountingUnit> UnitsOf(const Domain& domain, std::span<const CountedTable> plan);

// The digits of all units that have slices; null if none has.
const RowDigits* RowDigitsOf(std::span<const CountingUnit> units);

// How many rows a part should have that is counted at once (CountedRows).
int64_t RowsPerPart(const Domain& domain, std::span<const CountedTable> plan, bool holds_rows);

// What threads take at most to pack and sort rows before they are counted, beside the counters
// and the rows themselves; 0 where no table of the plan is sliced.
int64_t SortingBytes(const Domain& domain, std::span<const CountedTable> plan, bool holds_rows,
                     int num_threads);

}  // namespace residua
