#pragma once

#include "residua/base/rational.h"

namespace residua::oracle {

// min over alpha > 1 of
//   alpha rho + (log(1/delta) - log(alpha-1) + alpha log(1-1/alpha)) / (alpha-1),
// term by term as it stands, at 1600 bits. With e = alpha - 1 its derivative has the sign of
// rho e^2 + log(1 + e) - log(1/delta), which grows with e: the minimum is found by bisection.
Rational EpsilonFromZcdp(double rho, double delta);

}  // namespace residua::oracle
