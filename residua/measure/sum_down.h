#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/measure/counting_plan.h"
#include "residua/model/domain.h"

namespace residua {

// The marginals of `counted.sets`, in that order, each summed from `counters`, the cells of
// `counted`. Sums are shared: attributes are decided in order of decreasing size, and all sets
// without an attribute continue from one table with that attribute summed out.
template <typename Counter>
std::vector<std::vector<int64_t>> SumDown(const Domain& domain, const CountedTable& counted,
                                          std::span<const AttributeSet> sets,
                                          std::vector<Counter> counters);

extern template std::vector<std::vector<int64_t>> SumDown(const Domain&, const CountedTable&,
                                                          std::span<const AttributeSet>,
                                                          std::vector<uint32_t>);
extern template std::vector<std::vector<int64_t>> SumDown(const Domain&, const CountedTable&,
                                                          std::span<const AttributeSet>,
                                                          std::vector<uint64_t>);

}  // namespace residua
