#include "residua/noise/insecure_gaussian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "residua/base/error.h"
#include "tests/oracle/deterministic_bits.h"
#include "tests/oracle/discrete_gaussian_fit.h"

namespace residua {
namespace {

// Rounded to integers, at a variance where that makes no difference a test could see.
TEST(InsecureContinuousGaussian, Fits) {
  const double variance = 1e14;
  DeterministicBits bits(1);
  std::vector<double> out(1000001);
  InsecureContinuousGaussian(variance, bits, out);
  std::vector<int64_t> rounded(out.size());
  for (size_t i = 0; i < out.size(); ++i) rounded[i] = std::llround(out[i]);
  const std::span<const int64_t> view(rounded);
  EXPECT_TRUE(FitsDiscreteGaussian(view, Rational(variance), 1e-6));
  EXPECT_FALSE(FitsDiscreteGaussian(view, Rational(1.03 * variance), 1e-6));
  EXPECT_FALSE(FitsDiscreteGaussian(view, Rational(0.97 * variance), 1e-6));
}

TEST(InsecureContinuousGaussian, RefusesBadVariances) {
  DeterministicBits bits(1);
  std::vector<double> out(3);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double variance : {0.0, -1.0, infinity, -infinity, std::nan("")}) {
    EXPECT_THROW(InsecureContinuousGaussian(variance, bits, out), Error) << variance;
  }
}

TEST(ChiSquareTail, MatchesClosedForms) {
  // Two degrees of freedom: exp(-x / 2). One: erfc(sqrt(x / 2)).
  EXPECT_NEAR(ChiSquareTail(3.0, 2), std::exp(-1.5), 1e-15);
  EXPECT_NEAR(ChiSquareTail(3.0, 1), std::erfc(std::sqrt(1.5)), 1e-15);
  EXPECT_NEAR(ChiSquareTail(60.0, 2) / std::exp(-30.0), 1.0, 1e-12);
}

}  // namespace
}  // namespace residua
