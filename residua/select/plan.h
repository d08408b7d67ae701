#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "residua/basis/residual_basis.h"
#include "residua/model/symmetry.h"
#include "residua/privacy/budget.h"
#include "residua/privacy/protection.h"
#include "residua/select/objective.h"
#include "residua/select/plan_cost.h"

namespace residua {

struct Plan;

// A measurement that a plan builds on: its plan, and the digest that tells it from every other.
struct MeasuredPlan {
  std::string digest;
  std::shared_ptr<const Plan> plan;

  bool operator==(const MeasuredPlan& other) const;
};

// The noise to be added, chosen without data. For every attribute set A of the workload's closure,
// the base mechanism
//   y_A = R_A x + N(0, variance * Sigma_A),  R_A = kron_{i in A} Sub_i kron_{j not in A} 1^T,
// is measured with the variance of its orbit: `variances[k]` for the sets of `mechanisms[k]`, its
// integers multiplied by 2^`scale_bits[k]`. `pcost` and `mu2` are the privacy costs for
// `protection`, never below the true ones; what `budget` limits is not above it.
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
  std::vector<int> scale_bits;  // empty in plans of format 1: all 0
  Rational pcost;
  std::optional<Rational> mu2;  // nothing in plans of format 1
  double loss = 0;              // of the objective, at `variances`
  double relative_gap = 0;      // loss is at most (1 + relative_gap) times the least possible
  bool converged = false;       // whether the gap came within the tolerance asked for
  // Of a plan that was never measured itself, but stands for several that were: these, at least
  // two. All else is what CombinePlans makes of them: `pcost` and `mu2` are their sums.
  std::vector<MeasuredPlan> parts = {};
  // Measurements of the same data that were made before, and that this one will be combined with:
  // the noise was chosen for all together, and `loss` and `relative_gap` are of that. What they
  // know well enough is not in `mechanisms`, and not measured again.
  std::vector<MeasuredPlan> after = {};

  bool operator==(const Plan&) const = default;
};

// The residual basis of each attribute, and what is applied along its axis of the counts.
std::vector<ResidualBasis> BasisOfAttributes(const Plan& plan);
std::vector<ResidualMatrix> MatrixOfAttributes(const Plan& plan);

// What the plan's cost depends on.
MechanismOrbits MechanismsOf(const Plan& plan);

// The log2 of the scale that `set` is measured on; Error{kBadInput} if the plan does not measure
// it.
int ScaleBits(const Plan& plan, const AttributeSet& set);

// What it costs by both ways of accounting. Of a plan of format 1 the cost on the Gaussian curve is
// computed here. The plan must be verified.
PrivacyCost CostOf(const Plan& plan);
Guarantee GuaranteeOf(const Plan& plan);

// Recomputes what the plan promises, in exact arithmetic: the classes partition the attributes and
// hold alike ones only, every class has a basis that fits it and whose sensitivity is that of its
// integers, every subset of every workload marginal has its base mechanism, every
// variance is positive, and the costs are `pcost` and `mu2` and within the budget. A combined plan
// is what CombinePlans makes of its parts, each of which is verified. Throws Error{kRefused} with
// the first thing that is not so, and Error{kTooLarge} for noise that cannot be priced.
void VerifyPlan(const Plan& plan);

}  // namespace residua
