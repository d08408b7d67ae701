#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/measure/counted_rows.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/table_counters.h"

namespace residua {

// The only way to the counters of CountedRows from outside. Only measure/ includes it.
struct CountedCells {
  // The tables that are counted, in order.
  static std::span<const CountedTable> Plan(const CountedRows& rows);
  // The counters of each of them, 32 or 64 bits wide; nothing is left. The rows must not be held.
  static std::vector<Counters> Take(CountedRows&& rows);
  // In place of those of rows without any row: what was counted of `num_rows` rows elsewhere.
  static void Put(std::vector<std::vector<uint64_t>> counters, int64_t num_rows, CountedRows* rows);
};

}  // namespace residua
