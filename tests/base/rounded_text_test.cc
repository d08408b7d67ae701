#include "residua/base/rounded_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "residua/base/rational.h"

namespace residua {
namespace {

std::string Rounded(double value, int decimals, Rounding rounding) {
  char buffer[kMaxRoundedChars];
  const char* const end = WriteRounded(value, decimals, rounding, buffer);
  EXPECT_LE(end - buffer, kMaxRoundedChars);
  return {static_cast<const char*>(buffer), end};
}

// The same with exact rationals: the double times a power of ten, cut to a whole number.
std::string RoundedByRationals(double value, int decimals, Rounding rounding) {
  Rational scaled(value);
  for (int k = 0; k < decimals; ++k) scaled *= 10;
  Integer units;
  mpz_fdiv_q(units.get_mpz_t(), scaled.get_num_mpz_t(), scaled.get_den_mpz_t());
  const Rational rest = scaled - units;
  const Rational half(1, 2);
  const bool is_up = rounding == Rounding::kNearest
                         ? rest > half || (rest == half && mpz_odd_p(units.get_mpz_t()) != 0)
                         : rounding == Rounding::kUp && rest > 0;
  if (is_up) units += 1;
  std::string digits = Integer(abs(units)).get_str();
  const auto least = static_cast<size_t>(decimals) + 1;
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  if (decimals > 0) digits.insert(digits.size() - static_cast<size_t>(decimals), ".");
  return (units < 0 ? "-" : "") + digits;
}

void ExpectExact(double value) {
  for (const int decimals : {0, 1, 2, 3, 4, 7, 12, kMaxDecimals}) {
    for (const Rounding rounding : {Rounding::kNearest, Rounding::kDown, Rounding::kUp}) {
      EXPECT_EQ(Rounded(value, decimals, rounding), RoundedByRationals(value, decimals, rounding))
          << value << " to " << decimals << " decimals";
    }
  }
}

TEST(RoundedText, RoundsTheDoubleItself) {
  // 2.675 is a little less than that, 1.005 too; 0.125 and 2.5 are ties.
  EXPECT_EQ(Rounded(2.675, 2, Rounding::kNearest), "2.67");
  EXPECT_EQ(Rounded(1.005, 2, Rounding::kNearest), "1.00");
  EXPECT_EQ(Rounded(0.125, 2, Rounding::kNearest), "0.12");
  EXPECT_EQ(Rounded(2.5, 0, Rounding::kNearest), "2");
  EXPECT_EQ(Rounded(3.5, 0, Rounding::kNearest), "4");
  EXPECT_EQ(Rounded(-1.25, 1, Rounding::kUp), "-1.2");
  EXPECT_EQ(Rounded(-1.25, 1, Rounding::kDown), "-1.3");
  EXPECT_EQ(Rounded(-0.0004, 3, Rounding::kNearest), "0.000");
  EXPECT_EQ(Rounded(-0.0, 1, Rounding::kDown), "0.0");
  EXPECT_EQ(Rounded(99.95, 1, Rounding::kUp), "100.0");
  // 0.1 is a little more than that: a number that is written as it was given is rounded too.
  EXPECT_EQ(Rounded(0.1, 1, Rounding::kUp), "0.2");
  EXPECT_EQ(Rounded(0.1, 1, Rounding::kDown), "0.1");
}

TEST(RoundedText, AgreesWithExactRationals) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-25, 25);
  for (int k = 0; k < 500; ++k) {
    const double value = std::pow(10, exponent(random)) * (random() % 2 == 0 ? 1 : -1);
    ExpectExact(value);
    // Near a tie and near a whole number of units, on both sides.
    const double tie = (std::floor(std::fmod(value, 1e6)) + 0.5) / 1000;
    for (const double near : {tie, tie - 0.0005}) {
      ExpectExact(near);
      ExpectExact(std::nextafter(near, 1e300));
      ExpectExact(std::nextafter(near, -1e300));
    }
    const double any = std::bit_cast<double>(random());
    if (std::isfinite(any)) ExpectExact(any);
  }
  for (const double value :
       {0.0, 0x1p52, 0x1p52 - 0.5, 0x1p53, -0x1p52, 4503599627370.4960, 1e22, 1e23,
        std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest(),
        std::numeric_limits<double>::min(), std::numeric_limits<double>::denorm_min()}) {
    ExpectExact(value);
  }
}

TEST(RoundedText, DecimalsThatAnErrorBarSupports) {
  EXPECT_EQ(SupportedDecimals(2.71), 3);
  EXPECT_EQ(SupportedDecimals(1), 3);
  EXPECT_EQ(SupportedDecimals(std::nextafter(1, 0)), 4);
  EXPECT_EQ(SupportedDecimals(0.05), 5);
  EXPECT_EQ(SupportedDecimals(10), 2);
  EXPECT_EQ(SupportedDecimals(999.9), 1);
  EXPECT_EQ(SupportedDecimals(1000), 0);
  EXPECT_EQ(SupportedDecimals(1e200), 0);
  EXPECT_EQ(SupportedDecimals(2e-15), kMaxDecimals);
  for (const double none :
       {1e-16, 0.0, -1.0, std::numeric_limits<double>::denorm_min(),
        std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(SupportedDecimals(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace residua
