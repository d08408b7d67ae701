#include "residua/privacy/gaussian_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "residua/base/big_float.h"
#include "residua/privacy/budget.h"
#include "residua/privacy/conversion.h"

namespace residua {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

struct CurvePoint {
  double mu;
  double epsilon;
  const char* delta;  // to twenty digits, by another program at 120 digits
};
constexpr CurvePoint kPoints[] = {{1, 0, "0.38292492254802620728"},
                                  {1, 1, "0.1269367375066439458"},
                                  {0.5, 4, "2.7060338029569069376e-16"},
                                  {0.25, 1.5, "8.2138101131633843136e-11"},
                                  {3, 20, "4.2247546167694100861e-8"},
                                  {0.001, 0.001, "0.000083357132125208493548"},
                                  {1e-08, 1e-08, "8.3315471004263653445e-10"},
                                  {0.125, 4, "1.5675439986317022919e-226"},
                                  {20, 300, "2.2727748823194893649e-7"},
                                  {0.001, 0.03125, "3.6208782722168363134e-219"}};

// Between the true value and three doubles above it; a last digit of the reference is allowed for.
TEST(GaussianCurveTest, DeltaIsTheCurveRoundedUp) {
  for (const CurvePoint& point : kPoints) {
    const Rational exact = ParseRational(point.delta, "delta");
    const Rational delta(GaussianDelta(point.mu, point.epsilon));
    EXPECT_GE(delta, exact * (1 - ParseRational("1e-19", "digit"))) << point.delta;
    EXPECT_LE(delta, exact * (1 + ParseRational("4e-16", "digit"))) << point.delta;
  }
}

TEST(GaussianCurveTest, MuOfABudgetIsTheCurveRoundedDown) {
  struct {
    double epsilon;
    double delta;
    double mu;
  } const budgets[] = {{0.1, 1e-9, 0.019916423412681466163}, {0.5, 1e-9, 0.09368649681784492989},
                       {1, 1e-6, 0.23670438066343570965},    {1, 1e-9, 0.18197480729533226431},
                       {2, 1e-9, 0.35154981589778069488},    {4, 1e-9, 0.67213169008081295606},
                       {1, 1e-12, 0.15248965124598128405},   {8, 1e-5, 1.6660305978457181684}};
  for (const auto& [epsilon, delta, expected] : budgets) {
    const double mu = GaussianFromEpsilon(epsilon, delta);
    EXPECT_NEAR(mu / expected, 1, 4e-16) << epsilon << " " << delta;
    EXPECT_LE(GaussianDelta(mu, epsilon), delta);
    EXPECT_GT(GaussianDelta(std::nextafter(mu, 2), epsilon), delta);
    EXPECT_LE(EpsilonFromGaussian(mu, delta), epsilon);
    EXPECT_GT(EpsilonFromGaussian(std::nextafter(mu, 2), delta), epsilon);
  }
}

// What an (epsilon, delta) budget is worth against the conversion from zCDP.
TEST(GaussianCurveTest, BuysLessVarianceThanZcdp) {
  struct {
    double epsilon;
    double delta;
    double saved;
  } const budgets[] = {{1, 1e-9, 0.096}, {1, 1e-6, 0.131}, {4, 1e-9, 0.087}};
  for (const auto& [epsilon, delta, saved] : budgets) {
    const double mu2 = std::pow(GaussianFromEpsilon(epsilon, delta), 2);
    EXPECT_NEAR(1 - 2 * ZcdpFromEpsilon(epsilon, delta) / mu2, saved, 5e-4);
  }
}

TEST(GaussianCurveTest, IsMonotonousAndSafeAtAllSizes) {
  for (const double mu : {1e-50, 1e-9, 0.1, 7.0, 1e5, 1e50}) {
    double last = 1;
    for (const double epsilon : {0.0, 1e-60, 1e-20, 1e-6, 0.01, 1.0, 30.0, 1e4, 1e9, 1e30, 1e110}) {
      const double delta = GaussianDelta(mu, epsilon);
      EXPECT_GE(delta, 0) << mu << " " << epsilon;
      EXPECT_LE(delta, last) << mu << " " << epsilon;
      EXPECT_GE(GaussianDelta(mu * 1.5, epsilon), delta) << mu << " " << epsilon;
      last = delta;
    }
    for (const double delta : {0.9, 0.1, 1e-9, 1e-100, 5e-324}) {
      const double epsilon = EpsilonFromGaussian(mu, delta);
      ASSERT_TRUE(std::isfinite(epsilon)) << mu << " " << delta;
      EXPECT_LE(GaussianDelta(mu, epsilon), delta) << mu << " " << delta;
      // mu-GDP is mu^2/2-zCDP.
      EXPECT_LE(epsilon, EpsilonFromZcdp(mu * mu / 2 * (1 + 1e-15), delta) * (1 + 1e-12))
          << mu << " " << delta;
    }
  }
  EXPECT_EQ(GaussianDelta(0, 1), 0);
  EXPECT_EQ(EpsilonFromGaussian(0, 1e-9), 0);
}

TEST(GaussianCurveTest, NotANumberNeverBecomesAPromise) {
  for (const double bad : {kNoNumber, kInfinite, -1.0}) {
    EXPECT_TRUE(std::isnan(GaussianDelta(bad, 1))) << bad;
    EXPECT_TRUE(std::isnan(GaussianDelta(1, bad))) << bad;
    EXPECT_TRUE(std::isnan(EpsilonFromGaussian(bad, 1e-9))) << bad;
    EXPECT_TRUE(std::isnan(GaussianFromEpsilon(bad, 1e-9))) << bad;
  }
  for (const double bad : {kNoNumber, 0.0, 1.0, -1.0, 2.0}) {
    EXPECT_TRUE(std::isnan(EpsilonFromGaussian(1, bad))) << bad;
    EXPECT_TRUE(std::isnan(GaussianFromEpsilon(1, bad))) << bad;
  }
}

// The lemma's factors, computed as it states them, are within the bounds that are used.
TEST(GaussianCurveTest, ErrorTermsAreAboveTheLemmas) {
  constexpr mpfr_prec_t kBits = 256;
  BigFloat e(kBits);  // 2 exp(-2 pi^2 kTau2); the terms after it are below exp(-300)
  mpfr_const_pi(e(), MPFR_RNDD);
  mpfr_sqr(e(), e(), MPFR_RNDD);
  mpfr_mul_si(e(), e(), -2 * kTau2, MPFR_RNDU);
  mpfr_exp(e(), e(), MPFR_RNDU);
  mpfr_mul_ui(e(), e(), 2, MPFR_RNDU);
  mpfr_mul_d(e(), e(), 1 + 1e-15, MPFR_RNDU);
  for (const char* text : {"1", "1000", "1000000000000", "1125899906842624", "1e30", "4e33"}) {
    const Integer m(ParseRational(text, "m"));
    const auto error = ErrorOfIntegerNoise(m);
    ASSERT_TRUE(error) << text;
    BigFloat up(kBits);
    BigFloat down(kBits);
    mpfr_log1p(up(), e(), MPFR_RNDU);  // log(1 + e)
    mpfr_neg(down(), e(), MPFR_RNDN);
    mpfr_log1p(down(), down(), MPFR_RNDD);  // log(1 - e)
    BigFloat factor(kBits);
    mpfr_mul_z(factor(), up(), m.get_mpz_t(), MPFR_RNDU);
    mpfr_exp(factor(), factor(), MPFR_RNDU);
    EXPECT_LE(mpfr_cmp_q(factor(), error->delta_factor.get_mpq_t()), 0) << text;
    mpfr_mul_ui(up(), up(), 2, MPFR_RNDU);
    mpfr_sub(up(), up(), down(), MPFR_RNDU);
    mpfr_mul_z(up(), up(), m.get_mpz_t(), MPFR_RNDU);
    EXPECT_LE(mpfr_cmp_q(up(), error->epsilon.get_mpq_t()), 0) << text;
  }
  EXPECT_FALSE(ErrorOfIntegerNoise(Integer(ParseRational("5e33", "m"))));
  EXPECT_LT(ErrorOfIntegerNoise(MostMeasuredIntegers())->epsilon, ParseRational("1e-18", "bound"));
}

// One integer with noise: its value on neighbouring tables differs by `shift`.
struct ShiftedInteger {
  int shift;
  double variance;
};

// The privacy loss log P(z) / P(z - shift) of independent integers, added up, with its
// probabilities: the law of one joined to those before it. Losses are kept on a grid of 1e-4 and
// rounded down, so that no delta is overstated.
std::vector<double> LossLaw(const std::vector<ShiftedInteger>& integers, double step, int reach) {
  std::vector<double> law(static_cast<size_t>(2 * reach + 1), 0.0);
  law[static_cast<size_t>(reach)] = 1;
  for (const auto& [shift, variance] : integers) {
    const int last = static_cast<int>(12 * std::sqrt(variance)) + 2;
    double sum = 0;
    for (int z = -last; z <= last; ++z) sum += std::exp(-z * z / (2 * variance));
    std::vector<double> next(law.size(), 0.0);
    for (int z = -last; z <= last; ++z) {
      const double mass = std::exp(-z * z / (2 * variance)) / sum;
      const double loss = shift * (2.0 * z + shift) / (2 * variance);
      const int places = static_cast<int>(std::floor(loss / step));
      for (int k = std::max(0, -places); k < std::min(2 * reach + 1, 2 * reach + 1 - places); ++k) {
        next[static_cast<size_t>(k + places)] += mass * law[static_cast<size_t>(k)];
      }
    }
    law = std::move(next);
  }
  return law;
}

// What the loss distribution gives: sum of P(loss) (1 - e^(epsilon - loss))+.
double DeltaOfLosses(const std::vector<double>& law, double step, int reach, double epsilon) {
  double delta = 0;
  for (size_t k = 0; k < law.size(); ++k) {
    const double loss = (static_cast<double>(k) - reach) * step;
    if (loss > epsilon) delta -= law[k] * std::expm1(epsilon - loss);
  }
  return delta;
}

// The lemma by brute force: the true delta of integer noise is never above the curve with variances
// less kTau2, and hardly below it; a mu that is 2 % low is below it.
TEST(GaussianCurveTest, HoldsForIntegerNoise) {
  constexpr double kStep = 1e-4;
  constexpr int kReach = 120000;
  const std::vector<std::vector<ShiftedInteger>> releases = {
      {{1, 5}}, {{1, 100}}, {{3, 40}}, {{2, 30}, {-1, 30}, {-1, 30}}, {{1, 4.5}, {1, 60}},
  };
  for (const auto& integers : releases) {
    double mu2 = 0;
    double exact_mu2 = 0;
    for (const auto& [shift, variance] : integers) {
      mu2 += shift * shift / (variance - kTau2);
      exact_mu2 += shift * shift / variance;
    }
    const std::vector<double> law = LossLaw(integers, kStep, kReach);
    for (const double epsilon : {0.0, 0.1, 0.5, 1.0}) {
      // Rounding down may have lost a step for each integer.
      const double delta = DeltaOfLosses(law, kStep, kReach, epsilon);
      EXPECT_LE(delta, GaussianDelta(std::sqrt(mu2), epsilon)) << exact_mu2 << " " << epsilon;
    }
  }
  // On a lattice where kTau2 is little the curve is tight: 2 % less is too little.
  const std::vector<ShiftedInteger> fine = {{400, 160000}};
  const std::vector<double> law = LossLaw(fine, kStep, kReach);
  for (const double epsilon : {0.1, 1.0, 3.0}) {
    const double delta = DeltaOfLosses(law, kStep, kReach, epsilon);
    EXPECT_LE(delta, GaussianDelta(1 / std::sqrt(1 - 4 / 160000.0), epsilon)) << epsilon;
    EXPECT_GT(delta, GaussianDelta(0.98, epsilon)) << epsilon;
  }
}

}  // namespace
}  // namespace residua
