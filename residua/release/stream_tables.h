#pragma once

#include <functional>
#include <span>
#include <vector>

#include "residua/files/measurement_file.h"
#include "residua/reconstruct/table_batches.h"

namespace residua {

// A table with the index it was made from, for its variances; or some of its counts, from number
// `first` on.
struct TablePiece {
  const ResidualIndex& index;
  const AttributeSet& table;
  std::span<const double> counts;
  int64_t first = 0;
};

struct StreamOptions {
  // What may be held of the measured values at once. Those that several tables share are always
  // held.
  int64_t memory_budget_bytes = int64_t{1} << 29;
  // Tables of more cells are passed to `visit_slab`, if there is one, in pieces that follow from
  // the table, and are never whole in memory: if their attributes are all identity attributes, and
  // the tables one attribute smaller take less than the budget.
  int64_t max_whole_cells = int64_t{1} << 24;
  std::function<void(const TablePiece&)> visit_slab = {};
  ReconstructOptions reconstruct;
};

// Reconstructs every one of `tables` from the file, holding few at a time, and passes each to
// `visit` once. Tables come in an order that follows from the file and the list. A table that the
// measurements do not cover is Error{kBadInput}, before anything is read.
void StreamTables(const MeasurementFile& file, const std::vector<AttributeSet>& tables,
                  const StreamOptions& options,
                  const std::function<void(const ResidualIndex&, const AttributeSet&,
                                           std::span<const double> counts)>& visit);

// The measured residuals of all subsets of `tables`; nothing else is kept.
std::vector<NoisyResidual> ReadSubsets(const MeasurementFile& file,
                                       const std::vector<AttributeSet>& tables);

// The same, but for large sets that can be read piece by piece.
struct SubsetResiduals {
  std::vector<NoisyResidual> residuals;
  std::vector<AttributeSet> elsewhere;
};
SubsetResiduals ReadSmallSubsets(const MeasurementFile& file,
                                 const std::vector<AttributeSet>& tables, int64_t max_values);
// The index of both.
ResidualIndex IndexResiduals(const Plan& plan, const SubsetResiduals& residuals);

}  // namespace residua
