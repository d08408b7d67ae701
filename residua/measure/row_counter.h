#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/measure/encoded_table.h"
#include "residua/model/attribute_set.h"

namespace residua {

// Adds the rows [begin, end) to `counters`, the cells of the marginal on `attributes`; where one of
// them is asked for its mean, as CountSplitRows does.
template <typename Counter>
void CountRows(const EncodedTable& table, const AttributeSet& attributes, int64_t begin,
               int64_t end, std::vector<Counter>& counters);

// The cells of the rows from `first_row` on in the marginal on `attributes`, row-major.
void CellsOf(const EncodedTable& table, const AttributeSet& attributes, int64_t first_row,
             std::span<uint64_t> cells);

extern template void CountRows(const EncodedTable&, const AttributeSet&, int64_t, int64_t,
                               std::vector<uint32_t>&);
extern template void CountRows(const EncodedTable&, const AttributeSet&, int64_t, int64_t,
                               std::vector<uint64_t>&);

}  // namespace residua
