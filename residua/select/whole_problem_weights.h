#pragma once

#include <vector>

#include "residua/basis/residual_basis.h"
#include "residua/select/basis_type.h"
#include "residua/select/choose_bases.h"

namespace residua {

// Of kMax, from the trade-offs that were found with the attributes' own weights: the types with
// weights of the dual of the whole problem, where they gain, or as they are. The dual's weights,
// the weights and trade-off of each type, and the multipliers of its cells all move at once.
//
// With the noise held fixed, the weighted sum of all variances has sum_q alpha_q a[q] +
// beta_q b[q] of a type, alpha and beta its prices. Where they are in proportion, the best basis
// for that is the one of StrategySolver for weights alpha, and a trade-off that follows from both:
// docs/oblique_basis.md, Largest variance.
std::vector<BasisType> WeighedByWholeProblem(const BasisProblem& problem,
                                             const std::vector<BasisType>& types,
                                             std::vector<ResidualBasis> bases);

}  // namespace residua
