#include "residua/base/rational.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/number_text.h"

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

TEST(RationalTest, TakesAllOfSixtyFourBits) {
  for (const int64_t value :
       {int64_t{0}, int64_t{-1}, int64_t{1} << 40, -(int64_t{1} << 40) - 7,
        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(ToInteger(value).get_str(), std::to_string(value));
  }
}

TEST(RationalTest, RefusesWhatIsNotANumber) {
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

// What is printed is never better than the promise; rounding to the nearest six digits could be.
TEST(RationalTest, PrintedNumbersRoundTheWayTheySay) {
  std::mt19937_64 random(3);
  std::vector<Rational> values = {0, 1, 10, Rational(1, 3), Rational(2, 3)};
  for (const char* text : {"0.0015000001", "0.99999951", "999999.5", "1e-320", "5e-324", "1e300",
                           "123456.5", "9.9999949999999", "1e-9", "999999999999999.9"}) {
    values.push_back(ParseRational(text, "x"));
  }
  for (int k = 0; k < 2000; ++k) {
    const double exponent = static_cast<double>(random() % 600) - 300;
    values.emplace_back(std::pow(10.0, exponent) * static_cast<double>(random() % 100000000 + 1));
  }
  for (const Rational& value : values) {
    for (const int digits : {6, 10, 15}) {
      const Rational above = ParseRational(TextAbove(value, digits), "x");
      const Rational below = ParseRational(TextBelow(value, digits), "x");
      EXPECT_GE(above, value) << value << " " << digits;
      EXPECT_LE(below, value) << value << " " << digits;
      // By less than two in the last digit, except where doubles have fewer.
      if (value < ParseRational("1e-300", "x")) continue;
      const Rational unit = 2 * value * ParseRational(fmt::format("1e{}", 1 - digits), "x");
      EXPECT_LE(Rational(above - below), unit) << value << " " << digits;
    }
  }
  EXPECT_EQ(TextAbove(Rational(3, 2)), "1.5");
  EXPECT_EQ(TextBelow(Rational(3, 2)), "1.5");
  EXPECT_EQ(TextAbove(ParseRational("1e400", "x")), "inf");
}

TEST(RationalTest, ASpendWithinAGrantLooksWithinIt) {
  const Rational third(1, 3);
  const SpentText nearly = TextOfSpent(third - ParseRational("6e-11", "x"), third);
  EXPECT_EQ(nearly.spent, "0.3333333333");
  EXPECT_EQ(nearly.granted, "0.3333333333");
  EXPECT_EQ(TextOfSpent(0, third).granted, "0.333333");
  EXPECT_EQ(TextOfSpent(Rational(1, 2), Rational(1, 2)).spent, "0.5");
  EXPECT_EQ(TextOfSpent(third, third).spent, "0.333334") << "no number of digits shows it";
  EXPECT_EQ(TextOfSpent(third, Rational(1, 4)).spent, "0.333334");
}

TEST(CheckedTest, NeverWraps) {
  EXPECT_EQ(CheckedMultiply(int64_t{1} << 31, int64_t{1} << 31), int64_t{1} << 62);
  EXPECT_THROW(CheckedMultiply(int64_t{1} << 32, int64_t{1} << 31), Error);
  EXPECT_THROW(CheckedAdd(INT64_MAX, 1), Error);
  const std::vector<int64_t> factors = {1000000, 1000000, 1000000, 1000000};
  EXPECT_THROW(CheckedProduct(factors), Error);
}

// The double that reading the decimals gives, also half way between two doubles: to the even one.
TEST(RationalTest, NearestDoubleIsTheOneThatIsRead) {
  std::mt19937_64 bits(3);
  for (const std::string text : {"36666666609403900", "9007199254740993", "9007199254740995",
                                 "-9007199254740993", "0.1", "1e-300", "4503599627370497.5"}) {
    EXPECT_EQ(NearestDouble(ParseRational(text, "a number")), std::stod(text)) << text;
  }
  for (int k = 0; k < 1000; ++k) {
    // Odd and above 2^53: half way between its neighbours.
    const std::string text = std::to_string((uint64_t{1} << 53) + 2 * (bits() >> 12) + 1);
    EXPECT_EQ(NearestDouble(ParseRational(text, "a number")), std::stod(text)) << text;
  }
}

}  // namespace
}  // namespace residua
