#pragma once

#include "residua/base/rational.h"

namespace residua {

// The variances that the samplers accept. Below 1/100 a draw is 0 except with probability 2^-71;
// above 2^126 the arithmetic of decay_rate.h would need more limbs. Draws of 64 bits end at 2^112:
// there 2^63 is 128 standard deviations away, exceeded with probability below 2^-11000.
inline constexpr unsigned kLog2MaxVariance = 126;
inline constexpr unsigned kLog2MaxNarrowVariance = 112;
const Rational& MinDiscreteGaussianVariance();
const Rational& MaxDiscreteGaussianVariance();
const Rational& MaxNarrowDiscreteGaussianVariance();

// Error{kBadInput} below the least of them, Error{kTooLarge} above the largest.
void CheckDiscreteGaussianVariance(const Rational& variance);

}  // namespace residua
