#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "residua/measure/counting_options.h"
#include "residua/model/domain.h"

namespace residua {

// How a table that is too large to be counted whole is cut, row-major as it is: along the attribute
// at `axis`, into slabs of up to `slab_size` of its cells. A slab is a contiguous part of the
// table: the attributes before are fixed, and those after are complete.
//
// The residual of a slab, with v the counts of its cells and s their sums along the axis, is
//   (kron_{before} H) (size v - s), and then the matrices of the attributes after.
// H couples the slabs that differ in attributes before, and a slab is read once for each of them.
struct SlabCut {
  size_t axis = 0;         // of the set's attributes
  int64_t num_before = 1;  // cells of the attributes before it
  int64_t size = 1;        // of the attribute
  int64_t num_after = 1;   // cells of the attributes after it
  int64_t slab_size = 1;

  int64_t num_cells() const { return num_before * size * num_after; }
  // Of all slabs that share their cells of the attributes before.
  int64_t slabs_per_line() const { return (size + slab_size - 1) / slab_size; }
  int64_t num_slabs() const { return num_before * slabs_per_line(); }
  int64_t slab_cells() const { return slab_size * num_after; }
};

// Nothing for a table that is counted whole: one of at most `max_whole_cells`, or one that cannot
// be cut. The first attribute that leaves few sums is cut. It and those before it must be identity
// attributes; the others may be of any kind, but none may be asked for its mean.
std::optional<SlabCut> CutIntoSlabs(const Domain& domain, const AttributeSet& set,
                                    const CountingOptions& options);

// The sets that are counted whole, and those in slabs.
struct SplitSets {
  std::vector<AttributeSet> whole;
  std::vector<AttributeSet> in_slabs;
};
SplitSets SplitBySize(const Domain& domain, std::span<const AttributeSet> sets,
                      const CountingOptions& options);

// What the counts take at most: of any number of rows (below thousands per cell), and of
// `num_rows`.
int64_t SlabCountBytes(const SlabCut& cut);
int64_t SlabCountBytes(const SlabCut& cut, int64_t num_rows);
// What measuring takes beside the counts: the sums, and a slab for each thread.
int64_t SlabWorkBytes(const SlabCut& cut, int num_threads);

}  // namespace residua
