#pragma once

#include <optional>

#include "residua/base/rational.h"

namespace residua {

// The curve of mu-Gaussian differential privacy,
//   delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)
// (Balle and Wang 2018, Theorem 8), in MPFR with every operation rounded to the safe side: an
// epsilon or delta is never below, a mu never above, what the curve gives. Not-a-number in gives
// not-a-number out.

double GaussianDelta(double mu, double epsilon);

// The least epsilon of mu at delta, and the largest mu within (epsilon, delta).
double EpsilonFromGaussian(double mu, double delta);
double GaussianFromEpsilon(double epsilon, double delta);

// Independent discrete Gaussians of variances s_i are, up to the factors below, a function of
// continuous ones of variances s_i - kTau2 (docs/math.md, "Integer noise on the Gaussian curve").
inline constexpr int kTau2 = 4;

// What these factors take from the curve: a release of `num_integers` numbers is
// (epsilon + `epsilon`, `delta_factor` delta)-private for each (epsilon, delta) on it. Nothing if
// they are so many that the factors matter: from 4e33 on.
struct CurveError {
  Rational epsilon;
  Rational delta_factor;
};
std::optional<CurveError> ErrorOfIntegerNoise(const Integer& num_integers);

// No plan that can be measured has more integers: 2^50 of them fill 8 PB.
const Integer& MostMeasuredIntegers();

}  // namespace residua
