#include "residua/measure/measured_sets.h"

#include <algorithm>

#include "residua/model/symmetry.h"

namespace residua {

std::vector<AttributeSet> MeasuredSets(const Plan& plan) {
  std::vector<AttributeSet> sets;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    ForEachMember(plan.classes, plan.mechanisms[k],
                  [&](const AttributeSet& set) { sets.push_back(set); });
  }
  std::sort(sets.begin(), sets.end(), ListedBefore);
  return sets;
}

}  // namespace residua
