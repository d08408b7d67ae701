#pragma once

#include <optional>
#include <span>
#include <vector>

#include "residua/select/plan_cost.h"

namespace residua {

// The pair of cells whose exchange for one another costs most, for identity attributes.
struct MostExpensivePair {
  double cost = 0;  // C[u, u] + C[v, v] - 2 C[u, v]
  // What it costs in the sets of each orbit together, at noise variance 1: the sum of these over
  // the variances is `cost`.
  std::vector<double> cost_of_orbit;
};

// Whether every attribute measured is.
bool HaveIdentityQueries(const MechanismOrbits& mechanisms);

// At these noise variances of the orbits, to a relative error below 1e-12 (docs/math.md). Nothing
// if an attribute is not an identity one, or there are too many kinds of pairs; Error{kTooLarge} if
// doubles do not hold the costs. The variances are positive; that of the total is not looked at.
std::optional<MostExpensivePair> FindMostExpensivePair(const MechanismOrbits& mechanisms,
                                                       std::span<const double> noise_variance);

}  // namespace residua
