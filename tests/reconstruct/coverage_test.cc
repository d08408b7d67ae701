// What intervals state, by brute force: the law of an answer's noise as a convolution of discrete
// Gaussians, and the probability that its interval holds the true answer.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_answers.h"
#include "tests/measure/random_table.h"

namespace residua {
namespace {

constexpr double kConfidences[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999};

// A discrete Gaussian of parameter `variance`, times `weight`.
struct WeightedNoise {
  double weight;
  double variance;
};

// Probabilities of |sum of the noise| up to each value, in units of the least weight: all weights
// are whole multiples of it.
class NoiseLaw {
 public:
  NoiseLaw(const std::vector<WeightedNoise>& parts, double unit) : unit_(unit) {
    law_[0] = 1;
    for (const auto& [weight, variance] : parts) {
      const auto multiple = std::lround(weight / unit);
      const int last = static_cast<int>(10 * std::sqrt(variance)) + 6;
      double sum = 0;
      for (int x = -last; x <= last; ++x) sum += std::exp(-0.5 * x * x / variance);
      std::map<long, double> next;
      for (const auto& [value, mass] : law_) {
        for (int x = -last; x <= last; ++x) {
          next[value + x * multiple] += mass * std::exp(-0.5 * x * x / variance) / sum;
        }
      }
      law_ = std::move(next);
    }
  }

  double Coverage(double reach) const {
    double covered = 0;
    for (const auto& [value, mass] : law_) {
      if (std::fabs(static_cast<double>(value)) * unit_ <= reach) covered += mass;
    }
    return covered;
  }

 private:
  double unit_;
  std::map<long, double> law_;
};

// The true table is 0, so an answer is its noise.
struct BinaryRelease {
  BinaryRelease(const Rational& total_variance, const Rational& residual_variance, int scale_bits)
      : domain(DomainOfSizes({2})),
        residuals({{{}, std::vector<int64_t>{0}, total_variance, scale_bits},
                   {{0}, std::vector<int64_t>{0, 0}, residual_variance, scale_bits}}) {}

  ResidualIndex Index() const {
    std::vector<ResidualView> views;
    for (const NoisyResidual& residual : residuals) views.push_back(ViewOf(residual));
    return ResidualIndex(domain, {IdentityBasis(2)}, views);
  }

  Domain domain;
  std::vector<NoisyResidual> residuals;
};

double ReachOf(const Estimate& estimate, double confidence) {
  return ConfidenceInterval(estimate, confidence).upper - estimate.value;
}

// As files of format 1 have it: today's 90 % interval of a total of variance 0.3 covered 72 %.
TEST(Coverage, HoldsForNoiseOnWholeNumbers) {
  int num_uncovered_without = 0;
  for (int k = 0; k <= 60; ++k) {
    const double variance = 0.05 * std::pow(2000, k / 60.0);  // to 100
    const BinaryRelease release{Rational(variance), Rational(variance), 0};
    const ResidualIndex index = release.Index();
    const Estimate total = Answer(index, ProductQuery(release.domain, {}));
    const NoiseLaw law({{1, variance}}, 1);
    for (const double confidence : kConfidences) {
      EXPECT_GE(law.Coverage(ReachOf(total, confidence)), confidence) << variance;
      const double plain = TwoSidedQuantile(confidence) * std::sqrt(total.variance);
      if (law.Coverage(plain) < confidence) ++num_uncovered_without;
    }
  }
  EXPECT_GT(num_uncovered_without, 100) << "the half step is needed";
}

TEST(Coverage, HoldsForCellsOfABinaryAttribute) {
  for (int k = 0; k <= 20; ++k) {
    for (const double ratio : {0.1, 1.0, 4.0}) {
      const double variance = 0.06 * std::pow(800, k / 20.0);
      const double residual_variance = std::max(0.05, ratio * variance);
      const BinaryRelease release{Rational(variance), Rational(residual_variance), 0};
      const ResidualIndex index = release.Index();
      const ProductQuery cell(release.domain, {{0, std::vector<CellRange>{{0, 0}}}});
      const Estimate estimate = Answer(index, cell);
      // total / 2 + (y_0 - y_1) / 4
      const NoiseLaw law({{0.5, variance}, {0.25, residual_variance}, {-0.25, residual_variance}},
                         0.25);
      Attribute attribute = release.domain[0];
      const AxisAnswers axis = MakeAxisAnswers(attribute, index.basis(0));
      const std::vector<const AxisAnswers*> axes = {&axis};
      const std::vector<double> variances = AnswerVariances(index, {0}, axes);
      for (const double confidence : kConfidences) {
        const double reach = ReachOf(estimate, confidence);
        EXPECT_GE(law.Coverage(reach), confidence) << variance << " " << ratio;
        const double z = TwoSidedQuantile(confidence);
        EXPECT_NEAR(
            z * std::sqrt(variances[0]) +
                IntervalWidening(z, variances[0], TableHalfStep(index, {0}, axes, variances)),
            reach, 1e-12 * reach);
      }
    }
  }
}

// On the lattices of plans of format 2 nothing is added, and a normal's quantiles are right.
TEST(Coverage, HoldsOnFineLattices) {
  for (const double variance : {0.05, 0.125, 0.3, 1.0, 7.0}) {
    int bits = 0;
    while (std::ldexp(variance, 2 * bits) < 4e6) ++bits;
    const BinaryRelease release{Rational(variance), Rational(variance), bits};
    const ResidualIndex index = release.Index();
    EXPECT_FALSE(index.has_coarse_noise());
    const Estimate total = Answer(index, ProductQuery(release.domain, {}));
    EXPECT_EQ(total.half_step, 0);
    EXPECT_NEAR(total.variance, variance, 1e-12);
    const double unit = std::ldexp(1.0, -bits);
    const NoiseLaw law({{unit, std::ldexp(variance, 2 * bits)}}, unit);
    for (const double confidence : kConfidences) {
      EXPECT_NEAR(law.Coverage(ReachOf(total, confidence)), confidence, 2.1e-4) << variance;
    }
  }
}

}  // namespace
}  // namespace residua
