#pragma once

#include <vector>

#include "residua/reconstruct/residual_index.h"
#include "residua/select/plan.h"

namespace residua {

// The measured sets that come closest to `set`: its maximal subsets among them, the largest first,
// at most `limit`. Because the measured sets are closed under subsets, no other measured set has
// more in common with it. Looks at orbits, and at no more of their members than it returns.
std::vector<AttributeSet> ClosestMeasured(const Plan& plan, const AttributeSet& set, int limit);
std::vector<AttributeSet> ClosestMeasured(const ResidualIndex& index, const AttributeSet& set,
                                          int limit);

}  // namespace residua
