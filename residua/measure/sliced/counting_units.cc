#include "residua/measure/sliced/counting_units.h"

namespace residua {

std::vector<CountingUnit> UnitsOf(const Domain& domain, std::span<const CountedTable> plan) {
  std::vector<CountingUnit> units;
  for (size_t t = 0; t < plan.size();) {
    CountingUnit unit{t, t + 1};
    if (const int slice = plan[t].slice; slice >= 0) {
      std::vector<AttributeSet> tables = {plan[t].attributes};
      for (; unit.last < plan.size() && plan[unit.last].slice == slice; ++unit.last) {
        tables.push_back(plan[unit.last].attributes);
      }
      unit.slices.emplace(domain, slice, std::move(tables));
    }
    t = unit.last;
    units.push_back(std::move(unit));
  }
  return units;
}

}  // namespace residua
