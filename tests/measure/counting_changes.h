#pragma once

#include <algorithm>
#include <cstdint>
#include <set>

#include "residua/base/int128.h"
#include "residua/basis/tree_matrix.h"
#include "residua/measure/measure.h"

namespace residua {

// Where the number of rows, which is private, changes how residuals are computed.

// The least numbers of rows for which a set's residuals are computed in 128 bits.
inline std::set<int64_t> WidthChanges(const Plan& plan, int64_t most_rows) {
  std::set<int64_t> changes;
  for (const AttributeSet& set : MeasuredSets(plan)) {
    Int128 largest = Int128{1} << ScaleBits(plan, set);
    for (const int i : set) {
      const int c = plan.classes.class_of[static_cast<size_t>(i)];
      const ResidualBasis& basis = plan.bases[static_cast<size_t>(c)];
      int64_t entry = basis.size;
      if (const auto* matrix = std::get_if<IntegerMatrix>(&basis.matrix)) {
        const auto [least, most] =
            std::minmax_element(matrix->entries.begin(), matrix->entries.end());
        entry = std::max(-*least, *most);
      } else if (const auto* tree = std::get_if<TreeMatrix>(&basis.matrix)) {
        entry = static_cast<int64_t>(LargestEntryOf(*tree));
      }
      largest *= entry;
    }
    const Int128 change = (Int128{1} << 63) / largest + ((Int128{1} << 63) % largest != 0);
    if (change <= most_rows) changes.insert(static_cast<int64_t>(change));
  }
  return changes;
}

}  // namespace residua
