#pragma once

namespace residua {

// Conversions between privacy measures, in doubles. Each result errs on the safe side: an epsilon
// or delta is never below, a rho or mu never above, what the formula gives. docs/math.md bounds the
// rounding of the first; Gaussian curves are moved by a relative 1e-12, which covers that of every
// operation in them. Not-a-number in gives not-a-number out.

// rho-zCDP implies (epsilon, delta)-DP with
//   epsilon = min over alpha > 1 of  alpha rho + (log(1/delta) - log(alpha-1) + alpha
//   log(1-1/alpha)) / (alpha-1)
// (Canonne, Kamath, Steinke 2020, Corollary 13). The promise for discrete noise.
double EpsilonFromZcdp(double rho, double delta);

// What residua 0.1 and 0.2.0 took for it, which rounding could leave too low by some 4e-15. Their
// plan files say it in words and their ledgers' digests hold it, to the last digit: for knowing
// these again, and no promise.
double FirstEpsilonFromZcdp(double rho, double delta);

// The largest rho that the same bound turns into (epsilon, delta).
double ZcdpFromEpsilon(double epsilon, double delta);

// The delta of mu-Gaussian DP at epsilon: Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 -
// epsilon/mu). Exact for continuous Gaussian noise, not promised for discrete.
double GaussianDelta(double mu, double epsilon);

// The epsilon of mu-Gaussian DP at delta, and the largest mu within (epsilon, delta).
double EpsilonFromGaussian(double mu, double delta);
double GaussianFromEpsilon(double epsilon, double delta);

}  // namespace residua
