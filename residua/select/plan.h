#pragma once

#include <vector>

#include "residua/basis/residual_basis.h"
#include "residua/model/symmetry.h"
#include "residua/privacy/budget.h"
#include "residua/privacy/protection.h"
#include "residua/select/objective.h"
#include "residua/select/plan_cost.h"

namespace residua {

// The noise to be added, chosen without data. For every attribute set A of the workload's closure,
// the base mechanism
//   y_A = R_A x + N(0, variance * Sigma_A),  R_A = kron_{i in A} Sub_i kron_{j not in A} 1^T,
// is measured with the variance of its orbit: `variances[k]` for the sets of `mechanisms[k]`.
// `pcost` is the privacy cost for `protection`, never below the true one nor above `budget.pcost`.
struct Plan {
  Domain domain;
  Workload workload;
  Objective objective;
  Budget budget;
  Protection protection;
  AttributeClasses classes;
  std::vector<ResidualBasis> bases;  // of each class
  MultisetTable mechanisms;
  std::vector<Rational> variances;
  Rational pcost;
  double loss = 0;          // of the objective, at `variances`
  double relative_gap = 0;  // loss is at most (1 + relative_gap) times the least possible
  bool converged = false;   // whether the gap came within the tolerance asked for

  bool operator==(const Plan&) const = default;
};

// The residual basis of each attribute, and what is applied along its axis of the counts.
std::vector<ResidualBasis> BasisOfAttributes(const Plan& plan);
std::vector<ResidualMatrix> MatrixOfAttributes(const Plan& plan);

// What the plan's cost depends on.
MechanismOrbits MechanismsOf(const Plan& plan);

// Recomputes what the plan promises, in exact arithmetic: the classes partition the attributes and
// hold alike ones only, every class has a basis that fits it and whose sensitivity is that of its
// integers, every subset of every workload marginal has its base mechanism, every
// variance is positive, and the cost is `pcost` and within the budget. Throws Error{kRefused} with
// the first thing that is not so, and Error{kTooLarge} for noise that cannot be priced.
void VerifyPlan(const Plan& plan);

}  // namespace residua
