#pragma once

#include <cstdint>
#include <stop_token>

#include "residua/base/memory.h"

namespace residua {

struct CountingOptions {
  // What counting may hold at once beside the table itself: counters, sums and the marginals not
  // yet visited. A single table that needs more is counted by itself.
  int64_t memory_budget_bytes = int64_t{1} << 30;
  // A single table that needs more than this is Error{kTooLarge}. What the rows, and the noisy
  // values on their way to a file, need is left beside it.
  int64_t memory_limit_bytes = MemoryOfMachine() / 4 * 3;
  // A table of more cells is counted and measured in slabs, where it can be cut (CutIntoSlabs). One
  // of so many takes half a GiB of counters and sums.
  int64_t max_whole_cells = int64_t{1} << 25;
  int num_threads = 0;  // 0: as many as there are processors
  std::stop_token stop = {};
};

}  // namespace residua
