#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "residua/base/threads.h"
#include "residua/reconstruct/scratch_buffer.h"
#include "residua/reconstruct/table_reconstruction.h"

namespace residua {

// From this size on a table is worth several threads, and its counts are written past the caches.
inline constexpr int64_t kLargeTableCells = int64_t{1} << 21;

struct ReconstructionWorkspace::Buffers {
  std::vector<const ResidualIndex::Entry*> entries;
  std::vector<int64_t> sizes;            // of each axis of the table
  std::vector<ScratchBuffer> residuals;  // of each subset of the axes, by mask
  std::vector<ScratchBuffer> scaled;     // likewise: the table on it, times its number of cells
  std::vector<const double*> faces;
  const int64_t* next = nullptr;  // what will be read after this table, as many values
  ScratchBuffer converted;        // an entry's values in their unit, where that is not 1
  std::vector<ScratchBuffer> corrections;
  ScratchBuffer result;
  ScratchBuffer sums;
  std::vector<ScratchBuffer> parts;
  std::vector<ScratchBuffer> blocks;
};

// out = f / divisor, f a tensor u = `values` of shape `sizes`, completed: with C_k = I - 1 1^T /
// n_k along axis k,
//   f = (prod over identity axes k of C_k) u + what has the means faces[k] along each such axis k.
// The faces agree on what they share. As I - prod C_k = J_1 + C_1 J_2 + C_1 C_2 J_3 + ..., J_k =
// I - C_k,
//   f = u + sum over k of C_1 ... C_{k-1} (faces[k] - mean of u along k), spread along k:
// u is read twice, once for its sums along each axis, once to add to it.
// Bit k of `identity_axes` is set for an identity axis k; faces[k] is null for the others. `values`
// may be `out`.
struct CompletionShape {
  std::span<const int64_t> sizes;
  size_t identity_axes = 0;
};
void Complete(const CompletionShape& shape, const int64_t* values,
              std::span<const double* const> faces, double divisor,
              ReconstructionWorkspace::Buffers& buffers, bool is_parallel, double* out);
void Complete(const CompletionShape& shape, const Int128* values,
              std::span<const double* const> faces, double divisor,
              ReconstructionWorkspace::Buffers& buffers, bool is_parallel, double* out);
void Complete(const CompletionShape& shape, const double* values,
              std::span<const double* const> faces, double divisor,
              ReconstructionWorkspace::Buffers& buffers, bool is_parallel, double* out);

// The same of an entry's integers in their unit.
void CompleteEntry(const CompletionShape& shape, const ResidualIndex::Entry& entry,
                   std::span<const double* const> faces, double divisor,
                   ReconstructionWorkspace::Buffers& buffers, bool is_parallel, double* out);

// The same slab by slab, for tensors that do not fit into memory: a slab has one index of the first
// axis. Values of whole slabs are passed in their order, all of them to Sum and then, after Correct,
// all of them to Add; either all are int64_t or all are doubles. What it makes is the same to the
// last bit. For tensors of at least kLargeTableCells with two axes or more; their sizes and the
// buffers must outlive it.
class SlabCompletion {
 public:
  SlabCompletion(const CompletionShape& shape, ReconstructionWorkspace::Buffers& buffers);
  ~SlabCompletion();

  void Sum(const int64_t* values, int64_t num_slabs);
  void Sum(const double* values, int64_t num_slabs);
  void Correct(std::span<const double* const> faces);
  void Add(const int64_t* values, int64_t num_slabs, double divisor, double* out);
  void Add(const double* values, int64_t num_slabs, double divisor, double* out);

 private:
  class Slabs;
  std::unique_ptr<Slabs> slabs_;
};

// Makes the tables one attribute smaller than `table`, whose attributes are all identity
// attributes, each times its number of cells: `workspace.buffers().faces`. The values of the table
// itself are not needed.
void ReconstructFaces(const ResidualIndex& index, const AttributeSet& table,
                      ReconstructionWorkspace& workspace);

// body(0), ..., body(count - 1), by the threads of the caller's task arena or in order.
template <typename Body>
void ForEach(bool is_parallel, int64_t count, const Body& body) {
  if (is_parallel && count > 1) {
    ParallelFor(int64_t{0}, count, body);
  } else {
    for (int64_t k = 0; k < count; ++k) body(k);
  }
}

}  // namespace residua
