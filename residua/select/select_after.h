#pragma once

#include <vector>

#include "residua/select/select.h"

namespace residua {

// A plan that adds to what was measured before.
struct PlanAfter {
  Plan plan;   // its `after` are the earlier measurements
  Plan fresh;  // for the same target, from nothing
};

// Chooses the noise of another measurement of the same data, given what `earlier` ones know, for
// the tables wanted now. With t_A = 1/variance of a set in the earlier measurements together, 0 for
// a set that they do not have, and p_A its cost:
//   minimise  loss of the variances 1/(t_A + tau_A)   subject to   sum p_A tau_A <= budget, tau >= 0.
// Sets with tau_A = 0 are not measured. Attributes that were measured keep their bases, so that all
// can be combined; the others get those of `fresh`. The budget, or the cost that a target needs, is
// that of the new measurement alone.
//
// Error{kRefused} if the earlier ones have other cells, neighbours, or other queries of an attribute
// that they measured; Error{kBadInput} if they reach a target already.
PlanAfter SelectAfter(const SelectRequest& request, const std::vector<MeasuredPlan>& earlier);

// What a release from nothing would have to cost for the loss that `plan` reaches together with what
// it comes after, in pcost.
Rational CostAtOnce(const SelectRequest& request, const Plan& plan);

}  // namespace residua
