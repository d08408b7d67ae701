#include "residua/base/rational.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "residua/base/checked.h"
#include "residua/base/error.h"

namespace residua {
namespace {

TEST(RationalTest, ReadsDecimalsAndFractionsExactly) {
  EXPECT_EQ(ParseRational("0.1", "x"), Rational(1, 10));
  EXPECT_EQ(ParseRational("1/3", "x"), Rational(1, 3));
  EXPECT_EQ(ParseRational("-2.5e-3", "x"), Rational(-1, 400));
  EXPECT_EQ(ParseRational("+12E2", "x"), Rational(1200));
  EXPECT_EQ(ParseRational(".5", "x"), Rational(1, 2));
  EXPECT_EQ(ParseRational("0.1/0.3", "x"), Rational(1, 3));
}

TEST(RationalTest, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "nan", "inf", "1/0", "1/", "/2", "--1", "1e", "1e99999999", "0x10",
                           "1 2", "1,5", "e5", ".", "1.2.3", "-"}) {
    EXPECT_THROW(ParseRational(text, "x"), Error) << text;
  }
}

TEST(RationalTest, DecimalOfADoubleIsWhatWasTyped) {
  EXPECT_EQ(RationalFromDecimal(0.1, "x"), Rational(1, 10));
  EXPECT_EQ(RationalFromDecimal(1e-9, "x"), Rational(1, 1000000000));
  EXPECT_THROW(RationalFromDecimal(std::nan(""), "x"), Error);
  EXPECT_THROW(RationalFromDecimal(INFINITY, "x"), Error);
}

TEST(RationalTest, DirectedDoublesBracketTheValue) {
  for (const char* text : {"1/3", "2/3", "-1/3", "1e-320", "123456789012345678901234567890/7", "1",
                           "0", "1/1152921504606846977"}) {
    const Rational value = ParseRational(text, "x");
    const double down = ToDoubleDown(value);
    const double up = ToDoubleUp(value);
    EXPECT_LE(Rational(down), value) << text;
    EXPECT_GE(Rational(up), value) << text;
    EXPECT_LE(up, std::nextafter(down, INFINITY)) << text;
  }
  EXPECT_EQ(ToDoubleUp(ParseRational("1e400", "x")), INFINITY);
  EXPECT_EQ(ToDoubleDown(ParseRational("1e400", "x")), std::numeric_limits<double>::max());
}

TEST(CheckedTest, NeverWraps) {
  EXPECT_EQ(CheckedMultiply(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_THROW(CheckedMultiply(int64_t{1} << 32, int64_t{1} << 31), Error);
  EXPECT_THROW(CheckedAdd(INT64_MAX, 1), Error);
  const std::vector<int64_t> factors = {1000000, 1000000, 1000000, 1000000};
  EXPECT_THROW(CheckedProduct(factors), Error);
}

}  // namespace
}  // namespace residua
