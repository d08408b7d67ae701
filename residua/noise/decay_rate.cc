#include "residua/noise/decay_rate.h"

#include "residua/base/error.h"

namespace residua {
namespace {

int BitLength(const Integer& value) {
  return static_cast<int>(mpz_sizeinbase(value.get_mpz_t(), 2));
}

// floor(variance_den 2^(exponent + ln2.bits) / (2 variance_num ln2)).
Integer ScaledRate(const Rational& variance, int exponent, const Integer& ln2, unsigned ln2_bits) {
  Integer numerator = variance.get_den();
  Integer denominator = 2 * variance.get_num() * ln2;
  const int shift = exponent + static_cast<int>(ln2_bits);
  if (shift >= 0) {
    numerator <<= static_cast<unsigned long>(shift);
  } else {
    denominator <<= static_cast<unsigned long>(-shift);
  }
  return numerator / denominator;
}

}  // namespace

Ln2Enclosure EncloseLn2(unsigned bits) {
  // ln 2 = sum over k >= 1 of 1 / (k 2^k). Each of the `bits` terms kept is rounded down by less
  // than one unit, and those left out sum to less than one.
  Integer sum = 0;
  const Integer one = Integer(1) << bits;
  for (unsigned k = 1; k <= bits; ++k) sum += (one >> k) / k;
  return {sum, sum + bits + 1, bits};
}

const Ln2Enclosure& Ln2To256Bits() {
  static const Ln2Enclosure& ln2 = *new Ln2Enclosure(EncloseLn2(256));
  return ln2;
}

DecayRate DecayRateOf(const Rational& variance) {
  RESIDUA_CHECK(variance >= MinDiscreteGaussianVariance());
  RESIDUA_CHECK(variance <= MaxDiscreteGaussianVariance());
  // kappa is irrational, so that a fine enough enclosure of ln 2 leaves one integer part; 256 bits
  // are nearly always enough.
  for (unsigned bits = 256;; bits *= 2) {
    const Ln2Enclosure ln2 = bits == 256 ? Ln2To256Bits() : EncloseLn2(bits);
    int exponent = 64 + BitLength(variance.get_num()) - BitLength(variance.get_den());
    Integer lower = ScaledRate(variance, exponent, ln2.upper, bits);
    while (BitLength(lower) != 64) {
      exponent += BitLength(lower) < 64 ? 1 : -1;
      lower = ScaledRate(variance, exponent, ln2.upper, bits);
    }
    if (lower != ScaledRate(variance, exponent, ln2.lower, bits)) continue;
    RESIDUA_CHECK(exponent >= 57 && exponent <= 190);
    return {lower.get_ui(), exponent};
  }
}

}  // namespace residua
