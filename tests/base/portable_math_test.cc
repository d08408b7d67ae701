#include "residua/base/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace residua {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Against the functions of std in 64 bits of mantissa, in units of the last place of a double.
template <typename Function, typename Reference>
double LargestError(double low, double high, const Function& function, const Reference& reference) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(low, high);
  double largest = 0;
  for (int k = 0; k < 20000; ++k) {
    const double x = uniform(random);
    const long double want = reference(static_cast<long double>(x));
    const double error = static_cast<double>(std::fabs((function(x) - want) / want)) * 0x1p52;
    largest = std::max(largest, error);
  }
  return largest;
}

TEST(PortableMath, IsRightToAFewUnitsInTheLastPlace) {
  EXPECT_LT(LargestError(-700, 700, PortableExp, [](auto x) { return std::exp(x); }), 2);
  EXPECT_LT(LargestError(-1, 1, PortableExp, [](auto x) { return std::exp(x); }), 2);
  EXPECT_LT(LargestError(-40, 40, PortableExpm1, [](auto x) { return std::expm1(x); }), 4);
  EXPECT_LT(LargestError(-1e-3, 1e-3, PortableExpm1, [](auto x) { return std::expm1(x); }), 2);
  EXPECT_LT(LargestError(1e-300, 1e300, PortableLog, [](auto x) { return std::log(x); }), 2);
  EXPECT_LT(LargestError(0.5, 2, PortableLog, [](auto x) { return std::log(x); }), 4);
  EXPECT_LT(LargestError(-1.57, 1.57, PortableSin, [](auto x) { return std::sin(x); }), 4);
  EXPECT_LT(LargestError(-1.5, 1.5, PortableCos, [](auto x) { return std::cos(x); }), 8);
  EXPECT_LT(LargestError(-20, 20, PortableSin, [](auto x) { return std::sin(x); }), 8);
  EXPECT_LT(LargestError(4.9, 7.6, PortableCos, [](auto x) { return std::cos(x); }), 8);
  EXPECT_LT(LargestError(9e5, 1e6, PortableSin, [](auto x) { return std::sin(x); }), 64);
  EXPECT_LT(LargestError(-1, 1, PortableAsin, [](auto x) { return std::asin(x); }), 8);
  for (const double exponent : {-3.5, 0.25, 2.0, 7.0}) {
    EXPECT_LT(LargestError(
                  0.1, 10, [&](double x) { return PortablePow(x, exponent); },
                  [&](auto x) { return std::pow(x, static_cast<long double>(exponent)); }),
              40);
  }
}

TEST(PortableMath, TreatsTheEndsAsTheStandardDoes) {
  EXPECT_EQ(PortableExp(0), 1);
  EXPECT_EQ(PortableExp(-kInfinity), 0);
  EXPECT_EQ(PortableExp(kInfinity), kInfinity);
  EXPECT_EQ(PortableExp(-800), 0);
  EXPECT_EQ(PortableExp(-745.2), 0);
  EXPECT_GT(PortableExp(-745), 0);
  EXPECT_GT(PortableExp(-720), 0);
  EXPECT_EQ(PortableExp(800), kInfinity);
  EXPECT_LT(PortableExp(709.7), kInfinity);
  EXPECT_EQ(PortableLog(0), -kInfinity);
  EXPECT_EQ(PortableLog(1), 0);
  EXPECT_EQ(PortableLog(kInfinity), kInfinity);
  EXPECT_NEAR(PortableLog(std::numeric_limits<double>::denorm_min()), -1074 * std::log(2.0), 1e-12);
  EXPECT_TRUE(std::isnan(PortableLog(-1)));
  EXPECT_EQ(PortablePow(0, 2), 0);
  EXPECT_EQ(PortablePow(0, -2), kInfinity);
  EXPECT_EQ(PortablePow(kInfinity, 0.5), kInfinity);
  EXPECT_EQ(PortablePow(kInfinity, -0.5), 0);
  EXPECT_EQ(PortablePow(5, 0), 1);
  EXPECT_NEAR(PortableAsin(1), std::asin(1.0), 1e-15);
  EXPECT_TRUE(std::isnan(PortableAsin(1.1)));
  for (const auto function :
       {PortableExp, PortableExpm1, PortableLog, PortableSin, PortableCos, PortableAsin}) {
    EXPECT_TRUE(std::isnan(function(kNoNumber)));
  }
  EXPECT_TRUE(std::isnan(PortablePow(kNoNumber, 2)));
  EXPECT_TRUE(std::isnan(PortablePow(2, kNoNumber)));
}

}  // namespace
}  // namespace residua
