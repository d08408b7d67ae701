#include <gtest/gtest.h>

#include <cmath>

#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "tests/oracle/discrete_gaussian_fit.h"
#include "tests/reconstruct/small_release.h"

namespace residua {
namespace {

constexpr int kNumReleases = 2000;

// Each of the tests below calls a right implementation wrong with this probability; seeds are
// fixed, so the outcome is always the same. The wrong values that must be rejected are rejected at
// the same level.
constexpr double kAlpha = 1e-4;

// Two tables that share an attribute, one of them with an oblique basis, with noise small enough
// that a discrete Gaussian's variance is visibly below its parameter (6.4 % at 3/10). Released over
// and over: the cells of both tables, less their true counts.
struct Releases {
  Releases() {
    std::mt19937_64 random(51);
    release = MakeSmallRelease({3, 4, 2}, {false, true, false}, {{0, 1}, {1, 2}}, random);
    for (auto& [set, variance] : release.noise_variances) variance = Rational(3, 10);
    release.noise_variances[{}] = Rational(1, 2);
    release.noise_variances[{0}] = Rational(2);
    release.scale_bits.clear();
    DeterministicBits bits(51);
    for (const AttributeSet& table : {AttributeSet{0, 1}, AttributeSet{1, 2}}) {
      std::vector<int64_t> cell(table.size(), 0);
      for (int64_t k = 0; k < NumCellsInMemory(release.domain, table); ++k) {
        const int64_t last = release.domain[table[1]].size;
        cells.push_back(
            ProductQuery::Cell(release.domain, table, std::vector<int64_t>{k / last, k % last}));
      }
    }
    errors.resize(static_cast<int64_t>(cells.size()), kNumReleases);
    for (int r = 0; r < kNumReleases; ++r) {
      release.Measure(&bits);
      const ResidualIndex index = release.Index();
      int64_t begin = 0;
      for (const AttributeSet& table : {AttributeSet{0, 1}, AttributeSet{1, 2}}) {
        const std::vector<double> counts = Reconstruct(index, table);
        const Eigen::VectorXd truth = release.TrueTable(table);
        for (size_t k = 0; k < counts.size(); ++k) {
          errors(begin++, r) = counts[k] - truth[static_cast<int64_t>(k)];
        }
      }
      if (r == 0) {
        covariance.resize(begin, begin);
        for (int64_t a = 0; a < begin; ++a) {
          for (int64_t b = 0; b < begin; ++b) {
            covariance(a, b) =
                Covariance(index, cells[static_cast<size_t>(a)], cells[static_cast<size_t>(b)]);
          }
        }
      }
    }
  }
  SmallRelease release;
  std::vector<ProductQuery> cells;
  Eigen::MatrixXd errors;      // a row for each cell, a column for each release
  Eigen::MatrixXd covariance;  // of the cells, by the closed form, within and across tables
};

const Releases& AllReleases() {
  static const Releases releases;
  return releases;
}

// The errors in coordinates in which `covariance` is the identity. Directions in which it says
// there is no noise are left out; the errors must be zero there.
Eigen::MatrixXd Whiten(const Eigen::MatrixXd& covariance, const Eigen::MatrixXd& errors,
                       double* largest_where_none) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
  const double threshold = 1e-9 * eigen.eigenvalues().maxCoeff();
  std::vector<int64_t> kept;
  *largest_where_none = 0;
  for (int64_t k = 0; k < covariance.rows(); ++k) {
    if (eigen.eigenvalues()[k] > threshold) {
      kept.push_back(k);
    } else {
      *largest_where_none =
          std::max(*largest_where_none,
                   (eigen.eigenvectors().col(k).transpose() * errors).cwiseAbs().maxCoeff());
    }
  }
  Eigen::MatrixXd white(static_cast<int64_t>(kept.size()), errors.cols());
  for (size_t k = 0; k < kept.size(); ++k) {
    white.row(static_cast<int64_t>(k)) = eigen.eigenvectors().col(kept[k]).transpose() * errors /
                                         std::sqrt(eigen.eigenvalues()[kept[k]]);
  }
  return white;
}

double TwoSidedNormalTail(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

// The means of the coordinates: chi-square with one degree each.
bool IsCentred(const Eigen::MatrixXd& white) {
  const Eigen::VectorXd mean = white.rowwise().mean();
  return ChiSquareTail(mean.squaredNorm() * static_cast<double>(white.cols()),
                       static_cast<int>(white.rows())) >= kAlpha;
}

// The mean square of all coordinates of all releases, which have kurtosis at most 3 or so: its
// standard deviation is 0.8 % with 16 coordinates.
bool HasUnitVariance(const Eigen::MatrixXd& white) {
  const auto count = static_cast<double>(white.size());
  return TwoSidedNormalTail((white.squaredNorm() / count - 1) / std::sqrt(2 / count)) >= kAlpha;
}

// The empirical correlations of different coordinates: chi-square with one degree per pair.
bool IsUncorrelated(const Eigen::MatrixXd& white) {
  const auto num_releases = static_cast<double>(white.cols());
  const Eigen::MatrixXd products = white * white.transpose() / num_releases;
  double statistic = 0;
  int num_pairs = 0;
  for (int64_t a = 0; a < white.rows(); ++a) {
    for (int64_t b = 0; b < a; ++b, ++num_pairs) {
      statistic += num_releases * products(a, b) * products(a, b);
    }
  }
  const double tail = ChiSquareTail(statistic, num_pairs);
  return tail >= kAlpha / 2 && 1 - tail >= kAlpha / 2;
}

TEST(RepeatedReleases, AreUnbiased) {
  const Releases& all = AllReleases();
  double where_none = 0;
  const Eigen::MatrixXd white = Whiten(all.covariance, all.errors, &where_none);
  // 1 + 2 + 3 + 2 * 3 + 1 + 3 * 1 measured dimensions: the total, a0, a1, a0 x a1, a2, a1 x a2.
  EXPECT_EQ(white.rows(), 16);
  EXPECT_LT(where_none, 1e-9);
  EXPECT_TRUE(IsCentred(white));
  // A bias of a tenth of a standard deviation.
  EXPECT_FALSE(IsCentred(white.array() + 0.1));
}

TEST(RepeatedReleases, HaveTheVariancesOfTheClosedForm) {
  const Releases& all = AllReleases();
  double unused = 0;
  const Eigen::MatrixXd white = Whiten(all.covariance, all.errors, &unused);
  EXPECT_TRUE(HasUnitVariance(white));
  EXPECT_FALSE(HasUnitVariance(white / std::sqrt(1.05)));
  EXPECT_FALSE(HasUnitVariance(white * std::sqrt(1.05)));

  // The noise parameters in place of the true variances.
  SmallRelease release = all.release;
  Eigen::MatrixXd by_parameter(all.covariance.rows(), all.covariance.cols());
  by_parameter.setZero();
  for (const AttributeSet& set : release.sets) {
    // The covariance is linear in the variances: what this set adds, times parameter / variance.
    std::vector<ResidualView> views;
    for (auto& [other, residual] : release.residuals) {
      residual.noise_variance = other == set ? Rational(8) : Rational(4);
      views.push_back(ViewOf(residual));
    }
    const ResidualIndex eight(release.domain, release.bases, views);
    for (ResidualView& view : views) view.noise_variance = 4;
    const ResidualIndex four(release.domain, release.bases, views);
    for (int64_t a = 0; a < by_parameter.rows(); ++a) {
      for (int64_t b = 0; b < by_parameter.cols(); ++b) {
        const auto& cell_a = all.cells[static_cast<size_t>(a)];
        const auto& cell_b = all.cells[static_cast<size_t>(b)];
        by_parameter(a, b) +=
            (Covariance(eight, cell_a, cell_b) - Covariance(four, cell_a, cell_b)) / 4 *
            release.noise_variances.at(set).get_d();
      }
    }
  }
  EXPECT_FALSE(HasUnitVariance(Whiten(by_parameter, all.errors, &unused)));
}

TEST(RepeatedReleases, HaveTheCovariancesOfTheClosedForm) {
  const Releases& all = AllReleases();
  double unused = 0;
  EXPECT_TRUE(IsUncorrelated(Whiten(all.covariance, all.errors, &unused)));

  // Tables taken for independent of each other; cells of a table likewise.
  Eigen::MatrixXd independent = all.covariance;
  independent.topRightCorner(12, 8).setZero();
  independent.bottomLeftCorner(8, 12).setZero();
  EXPECT_FALSE(IsUncorrelated(Whiten(independent, all.errors, &unused)));
  const Eigen::MatrixXd diagonal = all.covariance.diagonal().asDiagonal();
  EXPECT_FALSE(IsUncorrelated(Whiten(diagonal, all.errors, &unused)));
  // Covariances across the tables half as large.
  Eigen::MatrixXd weaker = all.covariance;
  weaker.topRightCorner(12, 8) *= 0.5;
  weaker.bottomLeftCorner(8, 12) *= 0.5;
  EXPECT_FALSE(IsUncorrelated(Whiten(weaker, all.errors, &unused)));
}

// Two-sided binomial test, by its normal approximation.
bool CoversWithProbability(double probability, int64_t num_covered, int64_t num_trials) {
  const auto count = static_cast<double>(num_trials);
  return TwoSidedNormalTail((static_cast<double>(num_covered) - count * probability) /
                            std::sqrt(count * probability * (1 - probability))) >= kAlpha;
}

TEST(RepeatedReleases, NinetyFivePercentIntervalsCoverAsOften) {
  const Releases& all = AllReleases();
  double unused = 0;
  const Eigen::MatrixXd white = Whiten(all.covariance, all.errors, &unused);
  // All independent directions together: 32,000 intervals. Variances 10 % off move the coverage by
  // 0.9 %, seven standard deviations.
  const auto covered = [&](double variance) {
    int64_t count = 0;
    for (int64_t k = 0; k < white.size(); ++k) {
      const Interval interval = ConfidenceInterval({white.data()[k], variance}, 0.95);
      if (interval.lower <= 0 && 0 <= interval.upper) ++count;
    }
    return count;
  };
  EXPECT_TRUE(CoversWithProbability(0.95, covered(1), white.size()));
  EXPECT_FALSE(CoversWithProbability(0.95, covered(0.9), white.size()));
  EXPECT_FALSE(CoversWithProbability(0.95, covered(1.1), white.size()));
  EXPECT_FALSE(CoversWithProbability(0.94, covered(1), white.size()));
  EXPECT_FALSE(CoversWithProbability(0.96, covered(1), white.size()));
}

TEST(RepeatedReleases, AnswersAndTheirDifferencesCoverToo) {
  SmallRelease release = AllReleases().release;
  // On fine lattices, where intervals are not widened.
  for (const AttributeSet& set : release.sets) release.scale_bits[set] = 10;
  const ProductQuery a(release.domain, {{0, std::vector<CellRange>{{0, 1}}},
                                        {1, std::vector<CellRange>{{1, 1}, {3, 3}}}});
  // All values of a0: a large part of b's answer is a's.
  const ProductQuery b(release.domain, {{1, std::vector<CellRange>{{1, 1}, {3, 3}}}});
  const Eigen::Map<const Eigen::VectorXd> histogram(release.histogram.data(),
                                                    static_cast<int64_t>(release.histogram.size()));
  const double truth_a = DenseQuery(release, a).dot(histogram);
  const double truth_b = DenseQuery(release, b).dot(histogram);
  DeterministicBits bits(52);
  int64_t covered_a = 0;
  int64_t covered_difference = 0;
  int64_t covered_ratio = 0;
  int64_t covered_without_covariance = 0;
  for (int r = 0; r < kNumReleases; ++r) {
    release.Measure(&bits);
    const ResidualIndex index = release.Index();
    const Estimate estimate_a = Answer(index, a);
    const Estimate estimate_b = Answer(index, b);
    const double covariance = Covariance(index, a, b);
    const auto covers = [](const Interval& interval, double truth) {
      return interval.lower <= truth && truth <= interval.upper ? 1 : 0;
    };
    covered_a += covers(ConfidenceInterval(estimate_a, 0.95), truth_a);
    covered_difference +=
        covers(ConfidenceInterval(DifferenceOf(estimate_a, estimate_b, covariance), 0.95),
               truth_a - truth_b);
    covered_without_covariance += covers(
        ConfidenceInterval(DifferenceOf(estimate_a, estimate_b, 0), 0.95), truth_a - truth_b);
    const auto ratio = RatioInterval(estimate_a, estimate_b, covariance, 0.95);
    ASSERT_TRUE(ratio.has_value());
    covered_ratio += covers(*ratio, truth_a / truth_b);
  }
  EXPECT_TRUE(CoversWithProbability(0.95, covered_a, kNumReleases));
  EXPECT_TRUE(CoversWithProbability(0.95, covered_difference, kNumReleases));
  EXPECT_TRUE(CoversWithProbability(0.95, covered_ratio, kNumReleases));
  EXPECT_FALSE(CoversWithProbability(0.90, covered_a, kNumReleases));
  EXPECT_FALSE(CoversWithProbability(0.95, covered_without_covariance, kNumReleases))
      << covered_without_covariance;
}

}  // namespace
}  // namespace residua
