#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "residua/reconstruct/residual_index.h"

namespace residua {

// The unbiased counts of the marginal on A = `table`, row-major, the last attribute fastest: with
// y_{A'} the measured residuals and [1^T; Sub_i]^-1 = [z_i | P_i],
//   counts = sum over A' subset A of (kron_{i in A'} P_i kron_{j in A\A'} z_j) y_{A'}.
// A table that the measurements do not cover is Error{kBadInput}.
//
// Not a sum over the 2^|A| subsets per cell, but one sweep along each axis of another basis, and
// two sweeps over the table for all axes of identity attributes (docs/reconstruction.md). The order
// of every sum follows from the table alone: the counts are the same with any number of threads.
// Without noise they are exact where the counts times the attributes' sizes stay below 2^53 and all
// are identity attributes.
//
// Answers other than counts (prefix sums, ranges) are sweeps along an axis of what this gives.
std::vector<double> Reconstruct(const ResidualIndex& index, const AttributeSet& table);

// Memory that reconstruction keeps between tables. One for each thread.
class ReconstructionWorkspace {
 public:
  ReconstructionWorkspace();
  ReconstructionWorkspace(ReconstructionWorkspace&&) noexcept;
  ReconstructionWorkspace& operator=(ReconstructionWorkspace&&) noexcept;
  ~ReconstructionWorkspace();

  struct Buffers;
  Buffers& buffers() { return *buffers_; }

 private:
  std::unique_ptr<Buffers> buffers_;
};

enum class TableThreads { kOne, kAll };

// The same into `counts`, which has a place for every cell, with one thread or all of the caller's
// task arena.
void ReconstructInto(const ResidualIndex& index, const AttributeSet& table,
                     ReconstructionWorkspace& workspace, std::span<double> counts,
                     TableThreads threads = TableThreads::kOne);

}  // namespace residua
