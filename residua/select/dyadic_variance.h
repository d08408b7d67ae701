#pragma once

#include "residua/base/rational.h"

namespace residua {

// Variances whose reciprocal is m 2^e with m of 64 bits or one more, so that exact costs, which add
// up reciprocals, stay short: the largest that is not above `variance`, and the smallest that is not
// below it. Both are within a relative 2^-62 of it.
Rational DyadicVarianceBelow(const Rational& variance);
Rational DyadicVarianceAbove(const Rational& variance);

// `value` * 2^`shift`.
Rational Shifted(Rational value, long shift);

}  // namespace residua
