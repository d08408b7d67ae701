#include "residua/noise/exp2_fixed.h"

#include <gtest/gtest.h>

#include "residua/base/big_float.h"
#include "tests/oracle/deterministic_bits.h"
#include "tests/oracle/gaussian_density.h"

namespace residua {
namespace {

TEST(Exp2Fixed, TableIsTheFloorOfThePowers) {
  EXPECT_EQ(kExp2Table[0], UINT64_MAX);
  for (uint64_t i = 1; i < 256; ++i) {
    EXPECT_EQ(Integer(kExp2Table[i]), FloorExp2(0, i << 56)) << i;
  }
}

TEST(Exp2Fixed, CoefficientsAreTheFloorOfTheSeries) {
  BigFloat term(1024);
  BigFloat ratio(1024);
  mpfr_const_log2(ratio(), MPFR_RNDN);
  mpfr_div_2ui(ratio(), ratio(), 8, MPFR_RNDN);
  mpfr_set_ui_2exp(term(), 1, 72, MPFR_RNDN);
  for (unsigned long k = 1; k <= 6; ++k) {
    mpfr_mul(term(), term(), ratio(), MPFR_RNDN);
    mpfr_div_ui(term(), term(), k, MPFR_RNDN);
    EXPECT_EQ(kExp2Coefficients[k - 1], mpfr_get_ui(term(), MPFR_RNDD)) << k;
  }
  // The proof assumes that the omitted terms of the series sum to less than one unit of 2^-72.
  mpfr_mul(term(), term(), ratio(), MPFR_RNDN);
  mpfr_div_ui(term(), term(), 7, MPFR_RNDN);
  EXPECT_LT(mpfr_get_d(term(), MPFR_RNDU), 1.0);
}

void ExpectWithinBound(FixedPoint y) {
  const Integer exact = FloorExp2(y.integer, y.fraction);
  const Integer computed = Exp2Fixed(y);
  // |computed - real| < 2, with exact <= real < exact + 1.
  EXPECT_LT(computed - exact, 2 + 1) << y.integer << " " << y.fraction;
  EXPECT_GT(computed - exact, -2) << y.integer << " " << y.fraction;
}

TEST(Exp2Fixed, ErrorIsBelowItsBound) {
  for (uint64_t i = 0; i < 256; ++i) {
    for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, (uint64_t{1} << 56) - 1}) {
      ExpectWithinBound({0, (i << 56) + offset});
      ExpectWithinBound({1, (i << 56) + offset});
    }
  }
  DeterministicBits bits(1);
  BitReader reader(bits);
  for (int i = 0; i < 20000; ++i) ExpectWithinBound({reader.Next() % 70, reader.Next()});
  for (int i = 0; i < 20000; ++i) ExpectWithinBound({0, reader.Next()});
}

TEST(Exp2Fixed, VanishesFarOut) {
  EXPECT_EQ(Exp2Fixed({64, 0}), 0u);
  EXPECT_EQ(Exp2Fixed({UINT64_MAX, UINT64_MAX}), 0u);
}

}  // namespace
}  // namespace residua
