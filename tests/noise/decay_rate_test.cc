#include "residua/noise/decay_rate.h"

#include <gtest/gtest.h>

#include <vector>

#include "residua/base/big_float.h"
#include "tests/oracle/deterministic_bits.h"
#include "tests/oracle/gaussian_density.h"

namespace residua {
namespace {

std::vector<Rational> ManyVariances() {
  std::vector<Rational> variances = {MinDiscreteGaussianVariance(), MaxDiscreteGaussianVariance(),
                                     Rational(1), Rational(1, 3)};
  DeterministicBits bits(2);
  BitReader reader(bits);
  for (unsigned exponent = 0; exponent <= 132; ++exponent) {
    // Numerators and denominators of up to 640 bits.
    Integer numerator = 1;
    Integer denominator = 1;
    for (uint64_t limbs = reader.Next() % 10; limbs > 0; --limbs) {
      numerator = (numerator << 64) + reader.Next();
      denominator = (denominator << 64) + (reader.Next() | uint64_t{1} << 63);
    }
    Rational variance(numerator << exponent, denominator * 100);
    variance.canonicalize();
    if (variance < MinDiscreteGaussianVariance()) continue;
    if (variance > MaxDiscreteGaussianVariance()) continue;
    variances.push_back(variance);
  }
  return variances;
}

// floor(2^log2_scale x^2 / (2 ln2 variance)), by MPFR.
Integer FloorScaledExponent(const Rational& variance, const Integer& x, long log2_scale) {
  const Rational exact = Rational(x * x) / (2 * variance);
  BigFloat value(1024);
  BigFloat ln2(1024);
  mpfr_set_q(value(), exact.get_mpq_t(), MPFR_RNDN);
  mpfr_const_log2(ln2(), MPFR_RNDN);
  mpfr_div(value(), value(), ln2(), MPFR_RNDN);
  mpfr_mul_2si(value(), value(), log2_scale, MPFR_RNDN);
  Integer result;
  mpfr_get_z(result.get_mpz_t(), value(), MPFR_RNDD);
  return result;
}

TEST(Ln2Enclosure, EnclosesLn2) {
  for (const unsigned bits : {64u, 256u, 512u}) {
    const Ln2Enclosure ln2 = EncloseLn2(bits);
    BigFloat value(1024);
    mpfr_const_log2(value(), MPFR_RNDN);
    mpfr_mul_2ui(value(), value(), bits, MPFR_RNDN);
    EXPECT_GT(mpfr_cmp_z(value(), ln2.lower.get_mpz_t()), 0);
    EXPECT_LT(mpfr_cmp_z(value(), ln2.upper.get_mpz_t()), 0);
    EXPECT_LE(ln2.upper - ln2.lower, bits + 1);
  }
}

TEST(DecayRate, MantissaIsTheFloor) {
  const std::vector<Rational> variances = ManyVariances();
  ASSERT_GT(variances.size(), 100u);
  for (const Rational& variance : variances) {
    const DecayRate rate = DecayRateOf(variance);
    EXPECT_GE(rate.mantissa, uint64_t{1} << 63);
    EXPECT_EQ(Integer(rate.mantissa), FloorScaledExponent(variance, 1, rate.exponent))
        << variance.get_d();
  }
}

TEST(ScaledSquare, LiesInItsEnclosure) {
  DeterministicBits bits(3);
  BitReader reader(bits);
  int num_compared = 0;
  for (const Rational& variance : ManyVariances()) {
    const DecayRate rate = DecayRateOf(variance);
    const ScaledSquare scaled_square(rate);
    for (int i = 0; i < 60; ++i) {
      // |x| of every length, up to a y of about 2^20.
      const int length = (rate.exponent - 64 + 20) / 2 + 1 - i % 24;
      if (length < 1) continue;
      const UInt128 word = (static_cast<UInt128>(reader.Next()) << 64) | reader.Next();
      const UInt128 magnitude = word >> (128 - length);
      const FixedPoint y = scaled_square(magnitude);
      const Integer computed = (Integer(y.integer) << 64) + y.fraction;
      const Integer x = ToInteger(magnitude);
      const Integer exact = FloorScaledExponent(variance, x, 64);
      if (y.integer == UINT64_MAX) {
        EXPECT_GE(exact >> 64, 256);
        continue;
      }
      ++num_compared;
      EXPECT_LE(computed, exact);
      // exact + 1 > 2^64 y > exact, and 2^64 y - computed < 2 y + 1.
      EXPECT_LT(exact - computed, 2 * FloorScaledExponent(variance, x, 0) + 3);
      Integer formula = Integer(rate.mantissa) * x * x;
      formula = rate.exponent >= 64 ? Integer(formula >> (rate.exponent - 64))
                                    : Integer(formula << (64 - rate.exponent));
      EXPECT_EQ(computed, formula);
    }
    EXPECT_EQ(scaled_square(static_cast<UInt128>(1) << 100).integer, UINT64_MAX);
  }
  EXPECT_GT(num_compared, 3000);
}

}  // namespace
}  // namespace residua
