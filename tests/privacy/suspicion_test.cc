#include "residua/privacy/suspicion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace residua {
namespace {

// Bayes' rule on randomised response, the worst release of this epsilon, in long doubles.
long double Posterior(long double prior, long double epsilon) {
  const long double said_in = std::exp(epsilon) / (1 + std::exp(epsilon));
  return prior * said_in / (prior * said_in + (1 - prior) * (1 - said_in));
}

TEST(SuspicionTest, IsThatOfRandomisedResponseRoundedUp) {
  for (const double prior : {0.001, 0.1, 0.5, 0.9}) {
    for (const double epsilon : {0.0, 1e-6, 0.1, 1.0, 3.0, 6.47408, 10.0, 20.0}) {
      const long double exact = Posterior(prior, epsilon);
      const double bound = GrownSuspicion(prior, epsilon);
      EXPECT_GE(bound, exact) << prior << " at epsilon " << epsilon;
      EXPECT_LE(bound, exact * (1 + 1e-13L)) << prior << " at epsilon " << epsilon;
    }
  }
  EXPECT_EQ(GrownSuspicion(0.5, 1000), 1);
  EXPECT_EQ(GrownSuspicion(0, 1000), 0);
  EXPECT_EQ(GrownSuspicion(1, 0), 1);
}

TEST(SuspicionTest, WhatIsNoNumberIsNoProtection) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double prior : {kNan, -0.1, 1.1, kInfinity}) EXPECT_EQ(GrownSuspicion(prior, 1), 1);
  for (const double epsilon : {kNan, -1.0, kInfinity, -kInfinity}) {
    EXPECT_EQ(GrownSuspicion(0.5, epsilon), 1);
  }
}

TEST(SuspicionTest, PercentagesAreRoundedUp) {
  EXPECT_EQ(PercentAbove(GrownSuspicion(0.5, 1)), "73.2 %");  // 73.106
  EXPECT_EQ(PercentAbove(GrownSuspicion(0.5, 3)), "95.3 %");  // 95.257
  EXPECT_EQ(PercentAbove(GrownSuspicion(0.5, 0)), "50.1 %");  // rounded up before
  EXPECT_EQ(PercentAbove(0.5), "50.0 %");
  EXPECT_EQ(PercentAbove(GrownSuspicion(0.5, 10)), "99.996 %");  // 99.99546
  EXPECT_EQ(PercentAbove(GrownSuspicion(0.5, 100)), "100 %");
  EXPECT_EQ(PercentAbove(std::numeric_limits<double>::quiet_NaN()), "100 %");
}

}  // namespace
}  // namespace residua
