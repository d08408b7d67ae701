#include "residua/reconstruct/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "residua/base/error.h"

namespace residua {
namespace {

// Normal quantiles to 17 digits.
TEST(TwoSidedQuantile, AgreesWithKnownValues) {
  EXPECT_NEAR(TwoSidedQuantile(0.95) / 1.9599639845400545, 1, 1e-15);
  EXPECT_NEAR(TwoSidedQuantile(0.9) / 1.6448536269514722, 1, 1e-15);
  EXPECT_NEAR(TwoSidedQuantile(0.99) / 2.5758293035489004, 1, 1e-15);
  EXPECT_NEAR(TwoSidedQuantile(0.5) / 0.67448975019608171, 1, 1e-15);
}

TEST(TwoSidedQuantile, InvertsTheNormalDistribution) {
  for (double confidence = 1e-300; confidence < 0.5; confidence *= 7) {
    const double z = TwoSidedQuantile(confidence);
    EXPECT_NEAR(std::erf(z / std::sqrt(2.0)) / confidence, 1, 1e-15) << confidence;
  }
  for (double tail = 0.5; tail > 1e-16; tail /= 3) {
    const double confidence = 1 - tail;
    const double z = TwoSidedQuantile(confidence);
    // d log erfc / d log z is about z^2 + 1.
    EXPECT_NEAR(std::erfc(z / std::sqrt(2.0)) / (1 - confidence), 1, 1e-15 * (1 + z * z)) << tail;
  }
}

TEST(TwoSidedQuantile, RefusesWhatIsNotAConfidence) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad :
       {0.0, 1.0, -0.5, 1.5, infinity, -infinity, 95.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(TwoSidedQuantile(bad), Error) << bad;
    EXPECT_THROW(ConfidenceInterval({1, 1}, bad), Error) << bad;
    EXPECT_THROW(RatioInterval({1, 1}, {1, 1}, 0, bad), Error) << bad;
  }
}

TEST(Estimate, SumsAndDifferencesTakeTheCovariance) {
  const Estimate sum = SumOf({3, 4}, {5, 9}, 1.5);
  EXPECT_EQ(sum.value, 8);
  EXPECT_EQ(sum.variance, 16);
  const Estimate difference = DifferenceOf({3, 4}, {5, 9}, 1.5);
  EXPECT_EQ(difference.value, -2);
  EXPECT_EQ(difference.variance, 10);
  EXPECT_EQ(DifferenceOf({3, 4}, {3, 4}, 4).variance, 0);
}

// The interval is what it says: it holds r exactly if a - r b lies within its own interval.
TEST(RatioInterval, HoldsTheRatiosThatAreNotRejected) {
  std::mt19937_64 random(41);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 1000; ++trial) {
    const Estimate a{10 * normal(random), std::exp(normal(random))};
    const Estimate b{10 * normal(random), std::exp(normal(random))};
    const double covariance = 0.7 * std::sqrt(a.variance * b.variance);
    const auto interval = RatioInterval(a, b, covariance, 0.95);
    const Interval around_b = ConfidenceInterval(b, 0.95);
    EXPECT_EQ(interval.has_value(), around_b.lower > 0 || around_b.upper < 0);
    if (!interval) continue;
    EXPECT_LE(interval->lower, a.value / b.value + 1e-9);
    EXPECT_GE(interval->upper, a.value / b.value - 1e-9);
    for (const double r : {interval->lower, interval->upper}) {
      const double variance = a.variance - 2 * r * covariance + r * r * b.variance;
      EXPECT_NEAR(std::abs(a.value - r * b.value), TwoSidedQuantile(0.95) * std::sqrt(variance),
                  1e-6 * (1 + std::abs(a.value) + std::abs(r * b.value)));
    }
  }
}

}  // namespace
}  // namespace residua
