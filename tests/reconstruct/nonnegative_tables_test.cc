#include "residua/reconstruct/nonnegative_tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "residua/reconstruct/joint_covariance.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "tests/reconstruct/noisy_release.h"

namespace residua {
namespace {

// Small releases may take any number of iterations: their noise was not planned but drawn at
// random.
NonnegativeOptions Unhurried() {
  NonnegativeOptions options;
  options.max_iterations = 200000;
  return options;
}

void ExpectNonnegativeAndConsistent(const SmallRelease& release, const NonnegativeTables& result) {
  const double tolerance = 1e-9 * (1 + result.total);
  for (const double count : result.counts) {
    ASSERT_GE(count, 0.0);
    ASSERT_FALSE(std::signbit(count));
  }
  for (const AttributeSet& a : result.tables) {
    const Eigen::VectorXd counts = AsVector(CountsOf(result, release.domain, a));
    EXPECT_NEAR(counts.sum(), result.total, tolerance);
    for (const AttributeSet& part : release.sets) {
      if (!IsPartOf(part, a)) continue;
      const Eigen::VectorXd margin = MarginMatrix(release, a, part) * counts;
      const Eigen::VectorXd expected = AsVector(CountsOf(result, release.domain, part));
      ASSERT_EQ(margin.size(), expected.size());
      EXPECT_LT((margin - expected).cwiseAbs().maxCoeff(), tolerance);
    }
  }
}

TEST(ReconstructNonnegative, IsNonnegativeAndConsistent) {
  std::mt19937_64 random(3);
  DeterministicBits bits(3);
  int num_changed = 0;
  int num_stopped = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Bases bases = trial % 4 == 0 ? Bases::kAny : Bases::kGood;
    const SmallRelease release = NoisyRelease(bases, random, &bits);
    const ResidualIndex index = release.Index();
    const NonnegativeTables result = ReconstructNonnegative(index, release.sets, Unhurried());
    ExpectNonnegativeAndConsistent(release, result);
    EXPECT_EQ(result.total, std::max(0.0, Reconstruct(index, {}).front()));
    if (bases == Bases::kGood) {
      EXPECT_LE(result.max_deviation, 0.1) << trial << " " << result.iterations;
    }
    num_changed += result.objective > 0 ? 1 : 0;
    // However early it stops, and then it says so.
    for (const int limit : {0, 1, 7}) {
      NonnegativeOptions options;
      options.max_iterations = limit;
      const NonnegativeTables stopped = ReconstructNonnegative(index, release.sets, options);
      ExpectNonnegativeAndConsistent(release, stopped);
      EXPECT_LE(stopped.iterations, limit);
      EXPECT_GE(stopped.objective,
                result.objective - 0.5 * result.max_deviation * result.max_deviation - 1e-9);
      num_stopped += stopped.max_deviation > 0.1 ? 1 : 0;
    }
  }
  EXPECT_GT(num_changed, 100);
  EXPECT_GT(num_stopped, 100);
}

// The problem as it is stated, written out with dense matrices: variables x, all tables' cells.
struct DenseFit {
  Eigen::MatrixXd residuals;  // f(x) = 1/2 ||residuals x - values||^2
  Eigen::VectorXd values;
  Eigen::MatrixXd equalities;  // equalities x = 0, and each table sums to the total
  Eigen::VectorXd uniform;

  double Objective(const Eigen::VectorXd& x) const {
    return 0.5 * (residuals * x - values).squaredNorm();
  }
};

void AppendRows(const Eigen::MatrixXd& rows, int64_t column, int64_t num_columns,
                Eigen::MatrixXd* matrix) {
  const int64_t before = matrix->rows();
  matrix->conservativeResize(before + rows.rows(), num_columns);
  matrix->bottomRows(rows.rows()).setZero();
  matrix->block(before, column, rows.rows(), rows.cols()) = rows;
}

DenseFit MakeDenseFit(const SmallRelease& release, const NonnegativeTables& result) {
  DenseFit fit;
  const int64_t num_cells = result.begin.back();
  fit.uniform.resize(num_cells);
  for (size_t t = 0; t < result.tables.size(); ++t) {
    const AttributeSet& table = result.tables[t];
    const int64_t size = result.begin[t + 1] - result.begin[t];
    fit.uniform.segment(result.begin[t], size)
        .setConstant(result.total / static_cast<double>(size));
    AppendRows(Eigen::MatrixXd::Ones(1, size), result.begin[t], num_cells, &fit.equalities);
    for (size_t s = 0; s < t; ++s) {
      AttributeSet common;
      std::set_intersection(table.begin(), table.end(), result.tables[s].begin(),
                            result.tables[s].end(), std::back_inserter(common));
      const int64_t row = fit.equalities.rows();
      AppendRows(MarginMatrix(release, table, common), result.begin[t], num_cells, &fit.equalities);
      const Eigen::MatrixXd other = MarginMatrix(release, result.tables[s], common);
      fit.equalities.block(row, result.begin[s], other.rows(), other.cols()) -= other;
    }
  }
  for (const AttributeSet& set : release.sets) {
    if (set.empty()) continue;
    const auto larger = std::find_if(result.tables.begin(), result.tables.end(),
                                     [&](const AttributeSet& t) { return IsPartOf(set, t); });
    const NoisyResidual& residual = release.residuals.at(set);
    const double scale = 1 / std::sqrt(TrueVarianceOf(residual));
    Eigen::VectorXd y =
        std::ldexp(scale, -residual.scale_bits) *
        Eigen::Map<const Eigen::Matrix<int64_t, Eigen::Dynamic, 1>>(
            std::get<std::vector<int64_t>>(residual.values).data(),
            static_cast<int64_t>(std::get<std::vector<int64_t>>(residual.values).size()))
            .cast<double>();
    const Eigen::MatrixXd rows = scale * KroneckerIn(release, *larger, set, [&](int i) {
                                   return DenseMatrixOf(release.bases[static_cast<size_t>(i)]);
                                 });
    // The part of y that no table explains is the same for all, and 0 for the unbiased ones.
    y = rows * rows.completeOrthogonalDecomposition().solve(y);
    AppendRows(rows, result.begin[static_cast<size_t>(larger - result.tables.begin())], num_cells,
               &fit.residuals);
    fit.values.conservativeResize(fit.residuals.rows());
    fit.values.tail(y.size()) = y;
  }
  return fit;
}

// By Newton's method with logarithmic barriers: within num_cells / sharpness of the optimum.
Eigen::VectorXd Solve(const DenseFit& fit) {
  const Eigen::MatrixXd directions = fit.equalities.fullPivLu().kernel();
  Eigen::VectorXd x = fit.uniform;
  for (double sharpness = 1e-3; sharpness < 1e9; sharpness *= 4) {
    const auto value = [&](const Eigen::VectorXd& at) {
      return at.minCoeff() <= 0 ? std::numeric_limits<double>::infinity()
                                : sharpness * fit.Objective(at) - at.array().log().sum();
    };
    for (int step = 0; step < 100; ++step) {
      const Eigen::VectorXd gradient =
          sharpness * (fit.residuals.transpose() * (fit.residuals * x - fit.values)) -
          x.cwiseInverse();
      Eigen::MatrixXd hessian = sharpness * (fit.residuals.transpose() * fit.residuals);
      hessian.diagonal() += x.cwiseAbs2().cwiseInverse();
      const Eigen::VectorXd move = -directions * (directions.transpose() * hessian * directions)
                                                     .ldlt()
                                                     .solve(directions.transpose() * gradient);
      const double decrement = -gradient.dot(move);
      if (!(decrement > 1e-9)) break;
      double length = 1;
      while (length > 1e-12 && value(x + length * move) > value(x) - 0.1 * length * decrement) {
        length /= 2;
      }
      x += length * move;
    }
  }
  return x;
}

// The objective to 1 % and a hundredth, and every count within the stated deviation.
TEST(ReconstructNonnegative, IsAsCloseToTheOptimumAsItSays) {
  std::mt19937_64 random(4);
  DeterministicBits bits(4);
  int num_compared = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Bases bases = trial % 4 == 0 ? Bases::kAny : Bases::kGood;
    const SmallRelease release = NoisyRelease(bases, random, &bits);
    const ResidualIndex index = release.Index();
    const NonnegativeTables result = ReconstructNonnegative(index, release.sets, Unhurried());
    if (result.objective == 0 || result.begin.back() > 120) continue;
    const DenseFit fit = MakeDenseFit(release, result);
    const Eigen::VectorXd counts = AsVector(result.counts);
    const Eigen::VectorXd optimum = Solve(fit);
    const double objective = fit.Objective(counts);
    const double least = fit.Objective(optimum);
    EXPECT_NEAR(objective, result.objective, 1e-7 * (1 + objective));
    EXPECT_GE(objective, least - 1e-6) << trial;
    EXPECT_LE(objective, least + 0.5 * result.max_deviation * result.max_deviation + 1e-6) << trial;
    if (bases == Bases::kGood) {
      EXPECT_LE(objective, 1.01 * least + 0.01) << trial;
    }
    for (size_t t = 0; t < result.tables.size(); ++t) {
      const std::vector<double> variances = CellVariances(index, result.tables[t]);
      for (size_t c = 0; c < variances.size(); ++c) {
        const int64_t at = result.begin[t] + static_cast<int64_t>(c);
        EXPECT_LE(std::abs(counts(at) - optimum(at)),
                  (result.max_deviation + 1e-3) * std::sqrt(variances[c]));
      }
    }
    ++num_compared;
  }
  EXPECT_GT(num_compared, 60);
}

TEST(ReconstructNonnegative, LeavesNonnegativeTablesAlone) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 100; ++trial) {
    SmallRelease release = RandomRelease(random);
    std::vector<double> histogram = release.histogram;
    for (double& cell : histogram) cell += 1;
    Change(histogram, 1, &release);
    release.Measure(nullptr);
    const NonnegativeTables result = ReconstructNonnegative(release.Index(), release.sets);
    EXPECT_EQ(result.iterations, 0);
    for (const AttributeSet& set : release.sets) {
      EXPECT_LT((AsVector(CountsOf(result, release.domain, set)) - release.TrueTable(set))
                    .cwiseAbs()
                    .maxCoeff(),
                1e-9 * result.total);
    }
  }
}

TEST(ReconstructNonnegative, ANegativeTotalLeavesNothing) {
  std::mt19937_64 random(6);
  SmallRelease release =
      MakeSmallRelease({3, 2, 4}, {false, true, false}, {{0, 1}, {1, 2}}, random);
  release.Measure(nullptr);
  std::get<std::vector<int64_t>>(release.residuals[{}].values)[0] = -3;
  const NonnegativeTables result = ReconstructNonnegative(release.Index(), release.sets);
  EXPECT_EQ(result.total, 0);
  EXPECT_EQ(result.counts, std::vector<double>(6 + 8, 0.0));
  EXPECT_EQ(CountsOf(result, release.domain, {1}), std::vector<double>(2, 0.0));
}

TEST(ReconstructNonnegative, TheTotalAlone) {
  std::mt19937_64 random(7);
  SmallRelease release = MakeSmallRelease({3, 2}, {false, false}, {{0, 1}}, random);
  release.Measure(nullptr);
  const double total = release.TrueTable({})(0);
  const NonnegativeTables result =
      ReconstructNonnegative(release.Index(), std::vector<AttributeSet>{{}, {}});
  EXPECT_EQ(CountsOf(result, release.domain, {}), std::vector<double>{total});
  EXPECT_EQ(ErrorOf([&] { CountsOf(result, release.domain, {0}); }).message,
            "a0 is part of none of the non-negative tables");
  EXPECT_TRUE(ReconstructNonnegative(release.Index(), {}).tables.empty());
}

TEST(ReconstructNonnegative, DoesNotDependOnThreads) {
  std::mt19937_64 random(8);
  DeterministicBits bits(8);
  for (int trial = 0; trial < 20; ++trial) {
    const SmallRelease release = NoisyRelease(Bases::kGood, random, &bits);
    NonnegativeOptions options;
    options.num_threads = 1;
    const std::vector<double> expected =
        ReconstructNonnegative(release.Index(), release.sets, options).counts;
    options.num_threads = 2;
    EXPECT_EQ(ReconstructNonnegative(release.Index(), release.sets, options).counts, expected);
  }
}

// Against the truth, on sparse data: root mean squared error of the cells of all measured sets.
// Over 40 releases the two are so far apart that neither a fixed seed nor a small change matters,
// and tables made of nothing but the total are worse than both.
TEST(ReconstructNonnegative, IsCloserToSparseData) {
  std::mt19937_64 random(9);
  DeterministicBits bits(9);
  double unbiased_error = 0, adjusted_error = 0, uniform_error = 0;
  for (int trial = 0; trial < 40; ++trial) {
    SmallRelease release = MakeSmallRelease({6, 5, 4, 6}, {false, trial % 2 == 0, false, false},
                                            {{0, 1}, {1, 2}, {0, 2, 3}}, random);
    std::vector<double> histogram(6 * 5 * 4 * 6, 0.0);
    for (int k = 0; k < 12; ++k) histogram[random() % histogram.size()] += 60;
    Change(histogram, 1, &release);
    // Noise of about 8 per cell, whatever the units of the basis.
    for (const AttributeSet& set : release.sets) {
      Rational variance = 64;
      for (const int i : set) {
        const int64_t n = release.domain[i].size;
        variance *=
            static_cast<long>(release.bases[static_cast<size_t>(i)].is_identity() ? n * n : 20);
      }
      release.noise_variances[set] = variance;
    }
    release.Measure(&bits);
    const ResidualIndex index = release.Index();
    const NonnegativeTables result = ReconstructNonnegative(index, release.sets);
    for (const AttributeSet& set : release.sets) {
      const Eigen::VectorXd truth = release.TrueTable(set);
      unbiased_error += (AsVector(Reconstruct(index, set)) - truth).squaredNorm();
      adjusted_error += (AsVector(CountsOf(result, release.domain, set)) - truth).squaredNorm();
      uniform_error += (truth.array() - truth.mean()).square().sum();
    }
  }
  EXPECT_LT(adjusted_error, 0.5 * unbiased_error);
  EXPECT_GT(uniform_error, 2 * unbiased_error);
}

TEST(ReconstructNonnegative, RefusesWhatItCannotDo) {
  std::mt19937_64 random(10);
  SmallRelease release = MakeSmallRelease({3, 2, 4}, {false, true, false}, {{0, 1}, {2}}, random);
  release.Measure(nullptr);
  const ResidualIndex index = release.Index();
  EXPECT_EQ(ErrorOf([&] {
              ReconstructNonnegative(index, std::vector<AttributeSet>{{0, 2}});
            }).kind,
            ErrorKind::kBadInput);
  NonnegativeOptions options;
  options.memory_budget_bytes = 100;
  const Thrown thrown = ErrorOf([&] { ReconstructNonnegative(index, release.sets, options); });
  EXPECT_EQ(thrown.kind, ErrorKind::kTooLarge);
  EXPECT_NE(thrown.message.find("2 tables of 10 cells"), std::string::npos) << thrown.message;
  for (const double deviation : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    options = {};
    options.max_deviation = deviation;
    EXPECT_EQ(ErrorOf([&] { ReconstructNonnegative(index, release.sets, options); }).kind,
              ErrorKind::kBadInput);
  }
  for (const int bad : {-1, std::numeric_limits<int>::min()}) {
    options = {};
    options.max_iterations = bad;
    EXPECT_EQ(ErrorOf([&] { ReconstructNonnegative(index, release.sets, options); }).kind,
              ErrorKind::kBadInput);
    options = {};
    options.num_threads = bad;
    EXPECT_EQ(ErrorOf([&] { ReconstructNonnegative(index, release.sets, options); }).kind,
              ErrorKind::kBadInput);
  }
}

}  // namespace
}  // namespace residua
