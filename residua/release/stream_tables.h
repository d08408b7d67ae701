#pragma once

#include <functional>
#include <span>
#include <vector>

#include "residua/files/measurement_file.h"
#include "residua/reconstruct/table_batches.h"

namespace residua {

struct StreamOptions {
  // What may be held of the measured values at once. Those that several tables share are always
  // held.
  int64_t memory_budget_bytes = int64_t{1} << 31;
  ReconstructOptions reconstruct;
};

// Reconstructs every one of `tables` from the file, holding few at a time, and passes each to
// `visit` once, with the index it was made from: for its variances. Tables come in an order that
// follows from the file and the list. A table that the measurements do not cover is
// Error{kBadInput}, before anything is read.
void StreamTables(const MeasurementFile& file, const std::vector<AttributeSet>& tables,
                  const StreamOptions& options,
                  const std::function<void(const ResidualIndex&, const AttributeSet&,
                                           std::span<const double> counts)>& visit);

// The measured residuals of all subsets of `tables`; nothing else is kept.
std::vector<NoisyResidual> ReadSubsets(const MeasurementFile& file,
                                       const std::vector<AttributeSet>& tables);

}  // namespace residua
