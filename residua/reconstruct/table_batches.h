#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "residua/reconstruct/residual_index.h"

namespace residua {

struct ReconstructOptions {
  // Tables are made in batches of about this size: what is held at once, beside the workspaces. A
  // larger table is a batch of its own.
  int64_t batch_bytes = int64_t{1} << 22;
  int num_threads = 0;  // 0: as many as there are processors
};

// Every one of `tables`, in order: `visit` is called with its position in the list and its counts,
// which live until the call returns, on the calling thread. Small tables are divided among the
// threads; all threads work on each large table.
void ReconstructTables(const ResidualIndex& index, std::span<const AttributeSet> tables,
                       const ReconstructOptions& options,
                       const std::function<void(size_t, std::span<const double>)>& visit);

}  // namespace residua
