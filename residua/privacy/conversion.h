#pragma once

namespace residua {

// Conversions between zCDP and (epsilon, delta), in doubles. Each result errs on the safe side: an
// epsilon is never below, a rho never above, what the formula gives. docs/math.md bounds the
// rounding. Not-a-number in gives not-a-number out.

// rho-zCDP implies (epsilon, delta)-DP with
//   epsilon = min over alpha > 1 of  alpha rho + (log(1/delta) - log(alpha-1) + alpha
//   log(1-1/alpha)) / (alpha-1)
// (Canonne, Kamath, Steinke 2020, Corollary 13).
double EpsilonFromZcdp(double rho, double delta);

// What residua 0.1 and 0.2.0 took for it, which rounding could leave too low by some 4e-15. Their
// plan files say it in words and their ledgers' digests hold it, to the last digit: for knowing
// these again, and no promise.
double FirstEpsilonFromZcdp(double rho, double delta);

// The largest rho that the same bound turns into (epsilon, delta).
double ZcdpFromEpsilon(double epsilon, double delta);

}  // namespace residua
