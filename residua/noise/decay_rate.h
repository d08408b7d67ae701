#pragma once

#include <cstdint>

#include "residua/base/int128.h"
#include "residua/base/rational.h"
#include "residua/noise/exp2_fixed.h"

namespace residua {

// The variances the samplers take. Below 1/100 a draw is 0 but for probability 2^-71; above 2^126
// the arithmetic below would need more limbs.
Rational MinDiscreteGaussianVariance();
Rational MaxDiscreteGaussianVariance();

// Integers `lower` / 2^`bits` < ln 2 < `upper` / 2^`bits`.
struct Ln2Enclosure {
  Integer lower;
  Integer upper;
  unsigned bits;
};
Ln2Enclosure EncloseLn2(unsigned bits);
const Ln2Enclosure& Ln2To256Bits();  // computed once

// exp(-x^2 / (2 variance)) = 2^(-kappa x^2) with kappa = 1 / (2 ln2 variance), and
//   mantissa 2^-exponent <= kappa < (mantissa + 1) 2^-exponent,   2^63 <= mantissa < 2^64.
// For the variances above, 57 <= exponent <= 190.
struct DecayRate {
  uint64_t mantissa;
  int exponent;
};
DecayRate DecayRateOf(const Rational& variance);

// floor(mantissa x^2 2^(64 - exponent)) / 2^64, or something above 2^63 if that does not fit. With
// y = kappa x^2 it lies in (y - (2 y + 1) 2^-64, y]. Needs `magnitude` = |x| < 2^80.
inline FixedPoint ScaledSquare(const DecayRate& rate, UInt128 magnitude) {
  const auto low = static_cast<uint64_t>(magnitude);
  const auto high = static_cast<uint64_t>(magnitude >> 64);
  // x^2 in three limbs, least significant first.
  const UInt128 low_square = static_cast<UInt128>(low) * low;
  const UInt128 middle = (low_square >> 64) + 2 * (static_cast<UInt128>(low) * high);
  const auto square_0 = static_cast<uint64_t>(low_square);
  const auto square_1 = static_cast<uint64_t>(middle);
  const uint64_t square_2 = static_cast<uint64_t>(middle >> 64) + high * high;
  // mantissa x^2 2^64, in limbs 0 to 4; limb 5 is there to be shifted in.
  const UInt128 product_0 = static_cast<UInt128>(rate.mantissa) * square_0;
  const UInt128 product_1 = static_cast<UInt128>(rate.mantissa) * square_1 + (product_0 >> 64);
  const UInt128 product_2 = static_cast<UInt128>(rate.mantissa) * square_2 + (product_1 >> 64);
  const uint64_t limbs[6] = {0,
                             static_cast<uint64_t>(product_0),
                             static_cast<uint64_t>(product_1),
                             static_cast<uint64_t>(product_2),
                             static_cast<uint64_t>(product_2 >> 64),
                             0};
  const int first = rate.exponent / 64;
  const int shift = rate.exponent % 64;
  const auto shifted = [&](int limb) {
    const UInt128 pair = (static_cast<UInt128>(limbs[limb + 1]) << 64) | limbs[limb];
    return static_cast<uint64_t>(pair >> shift);
  };
  uint64_t overflow = 0;
  for (int limb = first + 2; limb <= 4; ++limb) overflow |= shifted(limb);
  if (overflow != 0) return {UINT64_MAX, 0};
  return {shifted(first + 1), shifted(first)};
}

}  // namespace residua
