#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/measure/encoded_table.h"
#include "residua/model/domain.h"

namespace residua {

// Rows of numbers whose mean is asked are split between two cells (MeanEncoding). To stay with whole
// numbers, a table with such an attribute counts steps in place of rows: a row that is k of D steps
// above the lowest number adds D - k to the first cell and k to the second, and D to the cell of
// missing values if its number is missing. So every row adds D in all, and never more: that is what
// the privacy cost is computed for.

// Adds the rows [begin, end) to `counters`, the cells of the table on `attributes`, of which `mean`
// is one whose mean is asked.
template <typename Counter>
void CountSplitRows(const EncodedTable& table, const AttributeSet& attributes, int mean,
                    int64_t begin, int64_t end, std::vector<Counter>& counters);

extern template void CountSplitRows(const EncodedTable&, const AttributeSet&, int, int64_t, int64_t,
                                    std::vector<uint32_t>&);
extern template void CountSplitRows(const EncodedTable&, const AttributeSet&, int, int64_t, int64_t,
                                    std::vector<uint64_t>&);

// The most that a row adds to the counters of any of the sets.
int64_t MostRowSteps(const Domain& domain, std::span<const AttributeSet> sets);

// Error{kTooLarge} if so many rows may not fit counters of 64 bits, one of which is the sign.
void CheckRowsFit(const Domain& domain, std::span<const AttributeSet> sets, int64_t num_rows);

}  // namespace residua
