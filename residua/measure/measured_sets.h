#pragma once

#include <vector>

#include "residua/select/plan.h"

namespace residua {

// The attribute sets that a plan measures, smaller sets first, in lexicographic order.
std::vector<AttributeSet> MeasuredSets(const Plan& plan);

}  // namespace residua
