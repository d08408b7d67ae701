#include "residua/measure/slab_cut.h"

#include <algorithm>

#include "residua/base/checked.h"
#include "residua/measure/true_tally.h"

namespace residua {
namespace {

// A slab is read so many times at most: reading a count takes a fraction of the time that its noise
// takes.
constexpr int64_t kMaxReads = 64;

// Slabs are this part of the largest table that is counted whole: with the default, their values
// take 32 MiB.
constexpr int64_t kSlabsPerWhole = 8;

}  // namespace

std::optional<SlabCut> CutIntoSlabs(const Domain& domain, const AttributeSet& set,
                                    const CountingOptions& options) {
  const int64_t num_cells = NumCellsInMemory(domain, set);
  const int64_t max_whole = std::max<int64_t>(options.max_whole_cells, 1);
  if (num_cells <= max_whole || MeanAttribute(domain, set) >= 0) return std::nullopt;
  SlabCut cut{.num_after = num_cells};
  for (; cut.axis < set.size(); ++cut.axis) {
    const Attribute& attribute = domain[set[cut.axis]];
    if (attribute.queries != QueryKind::kIdentity || cut.num_before > kMaxReads) break;
    cut.size = attribute.size;
    cut.num_after /= cut.size;
    if (cut.num_before * cut.num_after <= max_whole) {
      const int64_t slab_cells = max_whole / kSlabsPerWhole;
      cut.slab_size = std::clamp<int64_t>(slab_cells / cut.num_after, 1, cut.size);
      return cut;
    }
    cut.num_before *= cut.size;
  }
  return std::nullopt;
}

SplitSets SplitBySize(const Domain& domain, std::span<const AttributeSet> sets,
                      const CountingOptions& options) {
  SplitSets split;
  for (const AttributeSet& set : sets) {
    (CutIntoSlabs(domain, set, options) ? split.in_slabs : split.whole).push_back(set);
  }
  return split;
}

int64_t SlabCountBytes(const SlabCut& cut) {
  return CheckedMultiply(cut.num_cells(), TrueTally::kMostBytesPerCell);
}

int64_t SlabCountBytes(const SlabCut& cut, int64_t num_rows) {
  return TrueTally::MostBytes(cut.num_cells(), num_rows);
}

int64_t SlabWorkBytes(const SlabCut& cut, int num_threads) {
  // In 128 bits, and the noisy values once more.
  constexpr int64_t kBytesPerValue = 3 * 16;
  const int64_t values =
      cut.num_before * cut.num_after + CheckedMultiply(cut.slab_cells(), num_threads);
  return CheckedMultiply(values, kBytesPerValue);
}

}  // namespace residua
