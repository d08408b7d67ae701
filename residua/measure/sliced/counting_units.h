#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "residua/measure/counting_plan.h"
#include "residua/measure/sliced/slice_plan.h"
#include "residua/model/domain.h"

namespace residua {

// Tables [first, last) of a plan that are counted together: one table, or those with the same slice
// attribute.
struct CountingUnit {
  size_t first = 0;
  size_t last = 0;
  std::optional<SlicePlan> slices = {};
};

std::vector<CountingUnit> UnitsOf(const Domain& domain, std::span<const CountedTable> plan);

}  // namespace residua
