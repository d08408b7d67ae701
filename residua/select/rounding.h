#pragma once

#include <span>
#include <vector>

#include "residua/base/rational.h"
#include "residua/select/plan_cost.h"

namespace residua {

// Noise variances as rationals whose reciprocals are dyadic (so that exact costs stay short), each
// within 2^-31 of the double it stands for; and their exact privacy cost.
struct RoundedNoise {
  std::vector<Rational> variances;
  Rational pcost;
};

// Rounds variances up, and further up until the exact cost is at most `budget_pcost`.
RoundedNoise RoundWithinBudget(const MechanismOrbits& mechanisms,
                               std::span<const double> noise_variance,
                               const Rational& budget_pcost);

// Rounds variances down: no table's variance rises, and the cost is whatever it comes to.
RoundedNoise RoundForAccuracy(const MechanismOrbits& mechanisms,
                              std::span<const double> noise_variance);

}  // namespace residua
