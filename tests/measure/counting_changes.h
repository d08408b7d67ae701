#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "residua/base/int128.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/measure.h"

namespace residua {

// Where the number of rows, which is private, changes how a table is counted.

// The order in which a table of that many rows is counted.
inline std::vector<int> CountingOrder(const Plan& plan, int64_t num_rows) {
  std::vector<int> order;
  const std::vector<AttributeSet> sets = MeasuredSets(plan);
  for (const CountedTable& table :
       PlanCounting(plan.domain, sets, num_rows, std::numeric_limits<int64_t>::max())) {
    order.insert(order.end(), table.sets.begin(), table.sets.end());
  }
  return order;
}

// The numbers of rows at which that order changes, as far as steps of a fifth find them.
inline std::set<int64_t> OrderChanges(const Plan& plan, int64_t most_rows) {
  std::set<int64_t> changes;
  for (int64_t first = 1; first < most_rows; first += first / 5 + 1) {
    int64_t low = first, high = std::min(first + first / 5 + 1, most_rows);
    const std::vector<int> order = CountingOrder(plan, low);
    if (CountingOrder(plan, high) == order) continue;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (CountingOrder(plan, middle) == order ? low : high) = middle;
    }
    changes.insert(high);
  }
  return changes;
}

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
      }
      largest *= entry;
    }
    const Int128 change = (Int128{1} << 63) / largest + ((Int128{1} << 63) % largest != 0);
    if (change <= most_rows) changes.insert(static_cast<int64_t>(change));
  }
  return changes;
}

}  // namespace residua
