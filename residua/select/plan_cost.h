#pragma once

#include <optional>
#include <vector>

#include "residua/basis/residual_basis.h"
#include "residua/model/symmetry.h"
#include "residua/privacy/budget.h"
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

// The rows of attribute i's integer matrix: n for identity attributes, n - 1 for other bases.
int64_t NumResidualRows(const ResidualBasis& basis);

// Of all base mechanisms together.
Integer NumMeasuredIntegers(const MechanismOrbits& mechanisms);

// The integers of a set are measured on a finer lattice: multiplied by a scale 2^`bits`, their
// noise with them. The least scale of each orbit for which kTau2 is at most a millionth of the
// variance of the noise that is drawn.
std::vector<int> ChooseScaleBits(const MechanismOrbits& mechanisms,
                                 const std::vector<Rational>& variances);

// Scales beyond this are no plan's: the noise would be below every double.
inline constexpr int kMaxScaleBits = 1000;

// The variances from which PlanPcost gives mu2 in place of pcost: those of the integers' noise less
// kTau2, as docs/math.md derives. Each is rounded down by less than 2^-62, so that its reciprocal
// is dyadic and the exact cost stays short. Nothing if some noise is not above kTau2.
std::optional<std::vector<Rational>> VariancesOnCurve(const MechanismOrbits& mechanisms,
                                                      const std::vector<Rational>& variances,
                                                      const std::vector<int>& scale_bits);

// By both ways of accounting.
PrivacyCost PlanPrivacyCost(const MechanismOrbits& mechanisms,
                            const std::vector<Rational>& variances,
                            const std::vector<int>& scale_bits);

// `stated` is the cost of such a plan as PlanPcost gives it, here or on another processor.
bool IsPlanPcost(const MechanismOrbits& mechanisms, const std::vector<Rational>& variances,
                 const Rational& stated);

// What each orbit costs at noise variance 1, for choosing the noise: the sum of these over the
// variances is the cost itself for add-remove. For replace-one and identity attributes it is the
// mean over all pairs of different cells, so never above the cost; otherwise the bound. The total,
// which then costs nothing, has a cost too small to matter.
std::vector<double> CostOfOrbits(const MechanismOrbits& mechanisms);

}  // namespace residua
