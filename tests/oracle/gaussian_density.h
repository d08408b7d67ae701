#pragma once

#include "residua/base/int128.h"
#include "residua/base/rational.h"

namespace residua {

// floor(height 2^log2_scale exp(-x^2 / (2 variance))), by MPFR in 1024 bits.
Integer FloorScaledDensity(const Rational& variance, const Integer& x, const Integer& height,
                           long log2_scale);

// floor(2^64 2^-(integer + fraction / 2^64)).
Integer FloorExp2(uint64_t integer, uint64_t fraction);

Integer ToInteger(UInt128 value);

}  // namespace residua
