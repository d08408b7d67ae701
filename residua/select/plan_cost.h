#pragma once

#include <vector>

#include "residua/basis/residual_basis.h"
#include "residua/model/symmetry.h"
#include "residua/privacy/exact_cost.h"
#include "residua/privacy/protection.h"

namespace residua {

// Base mechanisms, an orbit of attribute sets at a time, and whom they are to protect: all that
// their cost depends on, but for the noise.
struct MechanismOrbits {
  const Protection& protection;
  const std::vector<ResidualBasis>& basis_of_class;
  const AttributeClasses& classes;
  const MultisetTable& orbits;
};

// The integer mechanisms that the orbits with `variances` stand for, as the exact cost sees them:
// their sensitivity is for one row added or removed.
std::vector<PricedMechanism> PriceMechanisms(const MechanismOrbits& mechanisms,
                                             const std::vector<Rational>& variances);

// The privacy cost: twice the rho of zCDP, rounded up. With C = sum over A of R_A^T Sigma_A^-1 R_A
// / sigma2_A the privacy cost matrix:
//   add-remove   max over cells u of C[u, u], exactly; times `max_rows`^2 for an identifier, whose
//                rows may all be in one cell.
//   replace-one  max over cells u, v of C[u, u] + C[v, v] - 2 C[u, v]. For identity attributes it
//                is found exactly up to a relative 2^-35, as long as there are no more than 2^20
//                kinds of pairs; otherwise bounded. docs/math.md proves both.
Rational PlanPcost(const MechanismOrbits& mechanisms, const std::vector<Rational>& variances);

// `stated` is the cost of such a plan as PlanPcost gives it, here or on another processor.
bool IsPlanPcost(const MechanismOrbits& mechanisms, const std::vector<Rational>& variances,
                 const Rational& stated);

// What each orbit costs at noise variance 1, for choosing the noise: the sum of these over the
// variances is the cost itself for add-remove. For replace-one and identity attributes it is the
// mean over all pairs of different cells, so never above the cost; otherwise the bound. The total,
// which then costs nothing, has a cost too small to matter.
std::vector<double> CostOfOrbits(const MechanismOrbits& mechanisms);

}  // namespace residua
