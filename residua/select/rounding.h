#pragma once

#include <span>
#include <vector>

#include "residua/base/rational.h"
#include "residua/select/plan_cost.h"

namespace residua {

// Noise variances as rationals whose reciprocals are dyadic (so that exact costs stay short), each
// within 2^-31 of the double it stands for; the scales they are measured on; and what they cost.
struct RoundedNoise {
  std::vector<Rational> variances;
  std::vector<int> scale_bits;
  PrivacyCost cost;
};

// Rounds variances up, and further up until what the budget limits of the cost is within it.
RoundedNoise RoundWithinBudget(const MechanismOrbits& mechanisms,
                               std::span<const double> noise_variance, const Budget& budget);

// Rounds variances down: no table's variance rises, and the cost is whatever it comes to.
RoundedNoise RoundForAccuracy(const MechanismOrbits& mechanisms,
                              std::span<const double> noise_variance);

}  // namespace residua
