#include "residua/privacy/conversion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "residua/base/error.h"
#include "residua/privacy/budget.h"
#include "residua/privacy/exact_cost.h"
#include "residua/privacy/gaussian_curve.h"
#include "tests/oracle/zcdp_bound.h"

namespace residua {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The bound of Canonne, Kamath and Steinke on a plain fine grid of alpha, in its delta form.
double DeltaFromZcdpOnGrid(double rho, double epsilon) {
  double best = 1;
  for (double u = -12; u < 12; u += 1e-4) {
    const double alpha = 1 + std::exp(u);
    const double delta = std::exp((alpha - 1) * (alpha * rho - epsilon)) / (alpha - 1) *
                         std::pow(1 - 1 / alpha, alpha);
    if (delta < best) best = delta;
  }
  return best;
}

TEST(ZcdpTest, EpsilonMeetsTheBoundAtItsDelta) {
  for (const double rho : {1e-4, 0.01, 0.1, 0.5, 2.0, 20.0}) {
    for (const double delta : {1e-3, 1e-6, 1e-9}) {
      const double epsilon = EpsilonFromZcdp(rho, delta);
      EXPECT_NEAR(DeltaFromZcdpOnGrid(rho, epsilon) / delta, 1, 1e-5) << rho << " " << delta;
      // Never above the classical conversion rho + 2 sqrt(rho log(1/delta)).
      EXPECT_LT(epsilon, rho + 2 * std::sqrt(rho * std::log(1 / delta)));
    }
  }
}

constexpr double kDeltas[] = {1 - 0x1p-53, 0.9,   0.5,    0.1,    1e-3,  1e-5,
                              1e-9,        1e-20, 1e-100, 1e-300, 5e-324};

std::vector<double> WideRhos() {
  std::vector<double> rhos = {1e-300, 1e-200, 1e200};
  for (int k = -120; k <= 120; k += 15) rhos.push_back(std::pow(10.0, k));
  for (int k = -48; k <= 20; k += 4) rhos.push_back(1.3 * std::pow(10.0, k / 4.0));
  return rhos;
}

// Never below the bound, and hardly above; where epsilon falls to 0, beside delta.
TEST(ZcdpTest, EpsilonIsNeverBelowTheExactBound) {
  const Rational slack = ParseRational("1e-11", "slack");
  int first_below = 0;
  for (const double rho : WideRhos()) {
    for (const double delta : kDeltas) {
      const Rational exact = std::max(Rational(0), oracle::EpsilonFromZcdp(rho, delta));
      const Rational epsilon(EpsilonFromZcdp(rho, delta));
      EXPECT_GE(epsilon, exact) << rho << " " << delta;
      EXPECT_LE(epsilon, Rational(exact + slack * (exact + Rational(delta))))
          << rho << " " << delta;
      if (Rational(FirstEpsilonFromZcdp(rho, delta)) < exact) ++first_below;
    }
  }
  EXPECT_GT(first_below, 0) << "the comparison sees what rounding takes away";
}

TEST(ZcdpTest, RhoOfAnEpsilonKeepsTheExactBound) {
  for (const double epsilon : {1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0, 1e6}) {
    for (const double delta : kDeltas) {
      const double rho = ZcdpFromEpsilon(epsilon, delta);
      if (rho == 0) continue;
      EXPECT_LE(oracle::EpsilonFromZcdp(rho, delta), Rational(epsilon)) << epsilon << " " << delta;
    }
  }
}

TEST(ZcdpTest, EpsilonAtTheEndsOfRho) {
  for (const double delta : kDeltas) {
    EXPECT_EQ(EpsilonFromZcdp(0, delta), 0);
    EXPECT_GE(EpsilonFromZcdp(5e-324, delta), 0);
    EXPECT_GE(EpsilonFromZcdp(1e308, delta), 1e308);
  }
}

TEST(ZcdpTest, RoundTripsOnTheSafeSide) {
  for (const double epsilon : {1e-3, 0.1, 1.0, 10.0, 200.0}) {
    for (const double delta : {0.1, 1e-6, 1e-12, 1e-100}) {
      const double rho = ZcdpFromEpsilon(epsilon, delta);
      ASSERT_GT(rho, 0);
      EXPECT_LE(EpsilonFromZcdp(rho, delta), epsilon);
      EXPECT_GT(EpsilonFromZcdp(rho * (1 + 1e-9), delta), epsilon);
    }
  }
}

TEST(ConversionTest, NotANumberNeverBecomesAPromise) {
  EXPECT_TRUE(std::isnan(EpsilonFromZcdp(kNaN, 1e-9)));
  EXPECT_TRUE(std::isnan(EpsilonFromZcdp(1, kNaN)));
  EXPECT_TRUE(std::isnan(EpsilonFromZcdp(-1, 1e-9)));
  EXPECT_TRUE(std::isnan(EpsilonFromZcdp(1, 0)));
  EXPECT_TRUE(std::isnan(EpsilonFromZcdp(1, 1)));
  EXPECT_TRUE(std::isnan(ZcdpFromEpsilon(kNaN, 1e-9)));
}

TEST(BudgetTest, UnitsAgree) {
  const Rational third(1, 3);
  EXPECT_EQ(BudgetFromPcost(third).pcost, third);
  EXPECT_EQ(BudgetFromRho(third).pcost, Rational(2, 3));
  EXPECT_EQ(BudgetFromMu(third).pcost, Rational(1, 9));
  for (const Budget& by_zcdp : {BudgetFromPcost(third), BudgetFromRho(third)}) {
    EXPECT_EQ(by_zcdp.limits, Accounting::kZcdp);
  }
  for (const Budget& on_curve : {BudgetFromMu(third), BudgetFromEpsilon(1, 1e-9)}) {
    EXPECT_EQ(on_curve.limits, Accounting::kGaussian);
  }
}

// 0.0331148304902 is the curve's mu^2 at (1, 1e-9); zCDP's conversion gives 0.02995.
TEST(BudgetTest, EpsilonBuysTheGaussianCurveAndNotMore) {
  const Budget budget = BudgetFromEpsilon(1, 1e-9);
  EXPECT_LT(budget.pcost, ParseRational("0.033114830491", "mu2"));
  EXPECT_GT(budget.pcost, ParseRational("0.033114830490", "mu2"));
  for (const Integer& num_integers : {Integer(1), MostMeasuredIntegers()}) {
    const Guarantee guarantee = GuaranteeOf({budget.pcost, budget.pcost, num_integers}, 1e-9);
    EXPECT_LE(guarantee.epsilon, 1);
    EXPECT_GT(guarantee.epsilon, 1 - 1e-12);
    // The same noise by zCDP alone.
    EXPECT_GT(GuaranteeOf({budget.pcost}, 1e-9).epsilon, 1.04);
  }
  // Where integer noise takes more from the curve than there is, zCDP decides.
  const Budget tiny = BudgetFromEpsilon(ParseRational("1e-30", "epsilon"), 1e-9);
  EXPECT_EQ(tiny.limits, Accounting::kZcdp);
  EXPECT_LE(GuaranteeOf({tiny.pcost}, 1e-9).epsilon, 1e-30);
}

TEST(BudgetTest, GuaranteesRoundUp) {
  const Guarantee guarantee = GuaranteeOf({Rational(1, 3), Rational(2, 5), 7}, 1e-9);
  EXPECT_GE(Rational(guarantee.pcost), Rational(1, 3));
  EXPECT_GE(Rational(guarantee.rho), Rational(1, 6));
  EXPECT_GE(Rational(*guarantee.mu) * Rational(*guarantee.mu), Rational(2, 5));
  EXPECT_EQ(GuaranteeOf({1, 1, 1}, 1e-9).mu, 1.0);
  EXPECT_EQ(GuaranteeOf({1, Rational(9, 4), 1}, 1e-9).mu, 1.5);
}

// Noise too small for the curve, or too many integers: the promise of zCDP alone.
TEST(BudgetTest, ZcdpIsPromisedWhereTheCurveIsNot) {
  const double epsilon = EpsilonFromZcdp(0.5, 1e-9);
  const Guarantee small = GuaranteeOf({1}, 1e-9);
  EXPECT_FALSE(small.mu);
  EXPECT_EQ(small.epsilon, epsilon);
  const Guarantee many = GuaranteeOf({1, 1, Integer(1) << 200}, 1e-9);
  EXPECT_FALSE(many.mu);
  EXPECT_EQ(many.epsilon, epsilon);
  EXPECT_LT(GuaranteeOf({1, 1, 1}, 1e-9).epsilon, epsilon);
}

TEST(BudgetTest, RefusesWhatIsNotABudget) {
  EXPECT_THROW(BudgetFromPcost(0), Error);
  EXPECT_THROW(BudgetFromRho(-1), Error);
  EXPECT_THROW(BudgetFromMu(0), Error);
  for (const double delta : {0.0, 1.0, -0.1, 2.0, kNaN}) {
    EXPECT_THROW(BudgetFromEpsilon(1, delta), Error) << delta;
    EXPECT_THROW(BudgetFromRho(1, delta), Error) << delta;
  }
}

TEST(ExactCostTest, SumsExactly) {
  // 1/3 + 3 * 2/(7/5) + 5/1, whatever the number of terms.
  EXPECT_EQ(ExactPcost({{1, 1, 3}, {3, 2, Rational(7, 5)}, {1, 5, 1}}),
            Rational(1, 3) + Rational(30, 7) + 5);
  std::vector<PricedMechanism> many;
  Rational plain = 0;
  for (int k = 1; k <= 100; ++k) {
    many.push_back({k, k + 1, Rational(k, 3)});
    plain += Rational(3 * (k + 1));
  }
  EXPECT_EQ(ExactPcost(many), plain);
  EXPECT_EQ(ExactPcost({}), 0);
  EXPECT_THROW(ExactPcost({{1, 1, 0}}), Error);
  EXPECT_THROW(ExactPcost({{1, 1, -1}}), Error);
}

}  // namespace
}  // namespace residua
