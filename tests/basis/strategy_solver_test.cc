#include "residua/basis/strategy_solver.h"
#include "residua/basis/basis_inverse.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

#include "residua/base/error.h"
#include "residua/basis/integer_basis.h"
#include "residua/basis/residual_basis.h"
#include "tests/basis/named_attribute.h"
#include "tests/oracle/dense_mechanism.h"
#include "tests/oracle/optimal_mechanism.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Attribute RandomCustom(int64_t rows, int64_t cells, unsigned seed) {
  std::mt19937 random(seed);
  Attribute attribute = Named(cells, QueryKind::kCustom);
  attribute.custom.num_rows = rows + 1;
  for (int64_t k = 0; k < rows * cells; ++k) {
    attribute.custom.entries.push_back(static_cast<double>(random() % 7) - 3);
  }
  attribute.custom.entries.insert(attribute.custom.entries.end(), static_cast<size_t>(cells), 1.0);
  return attribute;
}

std::vector<Attribute> Examples() {
  Attribute tree = Named(6, QueryKind::kHierarchy);
  tree.groups = {{"left", {0, 1}}, {"middle", {2, 3, 4}}, {"most", {0, 1, 2, 3, 4}}};
  return {Named(2, QueryKind::kPrefix), Named(9, QueryKind::kPrefix),
          Named(8, QueryKind::kRange),  tree,
          RandomCustom(9, 6, 1),        RandomCustom(3, 7, 2)};
}

// At u = 0 the strategy is the best for the attribute alone.
TEST(StrategySolverTest, MeetsTheOptimumOfTheAttributeAlone) {
  for (const Attribute& attribute : Examples()) {
    const MatrixXd dense = oracle::DenseQueries(attribute);
    const QuerySpace space(attribute);
    StrategySolver solver(space, BasisKind::kOblique, StrategyGoal::kMean);
    const Strategy strategy = solver.Solve(0, 1e-9, 2000);
    EXPECT_LE(strategy.relative_gap, 1e-8);
    // The best split of the budget between the total and the residual.
    const double best = std::pow(std::sqrt(strategy.privacy_cost * strategy.residual_mean) +
                                     std::sqrt(strategy.constant_mean),
                                 2);
    if (!space.is_full()) continue;  // the oracle needs full rank
    const oracle::OptimumBounds optimum =
        oracle::LeastTotalVariance(dense.transpose() * dense, 2000);
    EXPECT_GE(best * static_cast<double>(dense.rows()), optimum.lower * (1 - 1e-8));
    EXPECT_LE(best * static_cast<double>(dense.rows()), optimum.upper * (1 + 1e-8));
  }
}

// [1^T; Sub]^-1 = [z | P], and the figures selection sees are those of the dense matrices.
TEST(StrategySolverTest, IntegerBasesAreValidAndNear) {
  for (const BasisKind kind : {BasisKind::kOblique, BasisKind::kOrthogonal}) {
    for (const StrategyGoal goal : {StrategyGoal::kMean, StrategyGoal::kMax}) {
      for (const Attribute& attribute : Examples()) {
        const QuerySpace space(attribute);
        StrategySolver solver(space, kind, goal);
        const Strategy strategy = solver.Solve(0.7, 1e-7, 400);
        const double scale = 1 << 16;
        const IntegerMatrix matrix =
            RoundBasis(space, FactorBasis(strategy.gram, strategy.constant), scale);
        EXPECT_EQ(matrix.num_rows, space.rank() - 1);
        const ResidualBasis basis = BasisFromMatrix(attribute, matrix);
        const MatrixXd w = oracle::DenseQueries(attribute);

        MatrixXd sub(matrix.num_rows, matrix.num_columns);
        for (int64_t row = 0; row < matrix.num_rows; ++row) {
          for (int64_t k = 0; k < matrix.num_columns; ++k) {
            sub(row, k) = static_cast<double>(
                matrix.entries[static_cast<size_t>(row * matrix.num_columns + k)]);
          }
        }
        const double size = sub.cwiseAbs().maxCoeff();
        EXPECT_LT((sub * basis.inverse->constant).norm(), 1e-9 * size);
        EXPECT_NEAR(basis.inverse->constant.sum(), 1, 1e-10);
        EXPECT_LT(
            (sub * basis.inverse->residual - MatrixXd::Identity(sub.rows(), sub.rows())).norm(),
            1e-9);
        EXPECT_LT(basis.inverse->residual.colwise().sum().norm(), 1e-9);
        const MatrixXd identity =
            basis.inverse->constant * VectorXd::Ones(attribute.size).transpose() +
            basis.inverse->residual * sub;
        EXPECT_LT((w * identity - w).norm(), 1e-8 * w.norm());

        EXPECT_EQ(basis.privacy_cost, sub.colwise().squaredNorm().maxCoeff());
        const MatrixXd answers = w * basis.inverse->residual;
        EXPECT_NEAR(basis.mean.residual / answers.rowwise().squaredNorm().mean(), 1, 1e-9);
        EXPECT_NEAR(basis.mean.constant / (w * basis.inverse->constant).cwiseAbs2().mean(), 1,
                    1e-9);
        if (goal == StrategyGoal::kMean) {
          EXPECT_NEAR(basis.privacy_cost * basis.mean.residual /
                          (strategy.privacy_cost * strategy.residual_mean),
                      1, 2e-3);
          EXPECT_NEAR(basis.mean.constant / strategy.constant_mean, 1, 2e-3);
        }
        // No query beats all peaks, whatever the two are weighted by.
        for (double angle = 0; angle <= 1.5708; angle += 0.05) {
          double largest = 0;
          for (int64_t q = 0; q < w.rows(); ++q) {
            largest = std::max(
                largest,
                std::cos(angle) * basis.privacy_cost * answers.row(q).squaredNorm() +
                    std::sin(angle) * std::pow((w.row(q) * basis.inverse->constant)(0), 2));
          }
          double peak = 0;
          double thin = 0;
          for (const QueryVariance& p : basis.peaks) {
            peak = std::max(peak, std::cos(angle) * basis.privacy_cost * p.residual +
                                      std::sin(angle) * p.constant);
          }
          for (const QueryVariance& p : ThinHull(basis.peaks, 1e-2)) {
            thin = std::max(thin, std::cos(angle) * basis.privacy_cost * p.residual +
                                      std::sin(angle) * p.constant);
          }
          EXPECT_NEAR(peak / largest, 1, 1e-9);
          EXPECT_LE(thin, peak * (1 + 1e-12));
          EXPECT_GE(thin, peak * (1 - 3e-2));
        }
      }
    }
  }
}

// The same queries as a matrix of their own are solved by dense eigenvalues.
Attribute AsCustom(const Attribute& attribute) {
  const MatrixXd dense = oracle::DenseQueries(attribute);
  Attribute custom = Named(attribute.size, QueryKind::kCustom);
  custom.custom.num_rows = dense.rows();
  for (Eigen::Index q = 0; q < dense.rows(); ++q) {
    for (Eigen::Index k = 0; k < dense.cols(); ++k) custom.custom.entries.push_back(dense(q, k));
  }
  return custom;
}

TEST(StrategySolverTest, FastStepsReachTheOptimumOfDenseOnes) {
  struct Case {
    Attribute attribute;
    StrategyGoal goal;
    double tolerance;
  };
  std::vector<Case> cases;
  for (const int64_t n : {2, 3, 10, 33, 128}) {
    cases.push_back({Named(n, QueryKind::kPrefix), StrategyGoal::kMean, 1e-8});
    cases.push_back({Named(n, QueryKind::kRange), StrategyGoal::kMean, 1e-8});
    if (n < 100) cases.push_back({Named(n, QueryKind::kPrefix), StrategyGoal::kMax, 1e-5});
  }
  for (const Case& c : cases) {
    const QuerySpace space(c.attribute);
    const QuerySpace dense_space(AsCustom(c.attribute));
    StrategySolver fast(space, BasisKind::kOblique, c.goal);
    StrategySolver dense(dense_space, BasisKind::kOblique, c.goal);
    EXPECT_TRUE(fast.is_fast());
    EXPECT_FALSE(dense.is_fast());
    for (const double trade_off : {0.0, -1.5, 2.0, 6.0}) {
      const Strategy a = fast.Solve(trade_off, c.tolerance, 400);
      const Strategy b = dense.Solve(trade_off, c.tolerance, 400);
      EXPECT_LE(a.relative_gap, std::max(2e-5, 2 * b.relative_gap));
      // Both are within their gaps of the same optimum, and differ by its root at most.
      const double error = 3 * std::sqrt(std::max(0.0, a.relative_gap + b.relative_gap)) + 1e-7;
      EXPECT_NEAR(a.privacy_cost / b.privacy_cost, 1, error);
      EXPECT_NEAR(a.residual_mean / b.residual_mean, 1, error);
      EXPECT_NEAR(a.constant_mean / b.constant_mean, 1, error);
      EXPECT_LT((a.gram - b.gram).norm(), error * b.gram.norm());
      EXPECT_LT((a.gram * a.constant).norm(), 1e-8 * a.gram.norm() * a.constant.norm());
      EXPECT_NEAR(a.constant.sum(), 1, 1e-9);
      if (c.goal == StrategyGoal::kMean) continue;
      EXPECT_NEAR((a.privacy_cost * a.residual_variance).maxCoeff() /
                      (b.privacy_cost * b.residual_variance).maxCoeff(),
                  1, 0.02);
    }
  }
}

TEST(StrategySolverTest, ThousandsOfCellsReachTheirTolerance) {
  for (const QueryKind kind : {QueryKind::kPrefix, QueryKind::kRange}) {
    const QuerySpace space(Named(4096, kind));
    StrategySolver solver(space, BasisKind::kOblique, StrategyGoal::kMean);
    EXPECT_LE(solver.Solve(0.5, 1e-4, 60, false).relative_gap, 1e-4);
  }
}

// With its rows in another order a matrix is not triangular, and the general inverse is taken.
TEST(StrategySolverTest, TriangularMatricesAreInvertedLikeAnyOther) {
  for (const QueryKind kind : {QueryKind::kPrefix, QueryKind::kRange}) {
    const Attribute attribute = Named(300, kind);
    const QuerySpace space(attribute);
    StrategySolver solver(space, BasisKind::kOblique, StrategyGoal::kMean);
    const Strategy strategy = solver.Solve(1, 1e-4, 60);
    const IntegerMatrix matrix =
        RoundBasis(space, FactorBasis(strategy.gram, strategy.constant), 1 << 10);
    IntegerMatrix turned = matrix;
    std::rotate(turned.entries.begin(), turned.entries.begin() + turned.num_columns,
                turned.entries.end());
    const ResidualBasis a = BasisFromMatrix(attribute, matrix);
    const ResidualBasis b = BasisFromMatrix(attribute, turned);
    EXPECT_NEAR(a.mean.residual / b.mean.residual, 1, 1e-9);
    EXPECT_NEAR(a.mean.constant / b.mean.constant, 1, 1e-9);
    EXPECT_LT((a.inverse->constant - b.inverse->constant).norm(), 1e-9);
    EXPECT_LT((a.inverse->residual.rightCols(298) - b.inverse->residual.leftCols(298)).norm(),
              1e-9 * b.inverse->residual.norm());
  }
}

TEST(StrategySolverTest, OrthogonalRowsSumToZero) {
  const Attribute attribute = Named(12, QueryKind::kRange);
  const QuerySpace space(attribute);
  StrategySolver solver(space, BasisKind::kOrthogonal, StrategyGoal::kMean);
  const Strategy strategy = solver.Solve(0, 1e-7, 400);
  EXPECT_LE(strategy.relative_gap, 1e-7);
  EXPECT_LT((strategy.gram * VectorXd::Ones(12)).norm(), 1e-10);
  EXPECT_LT((strategy.constant - VectorXd::Constant(12, 1.0 / 12)).norm(), 1e-12);
}

// The trade-off sweeps the frontier: a larger one lowers rho and raises s.
TEST(StrategySolverTest, TheTradeOffIsMonotone) {
  const Attribute attribute = Named(20, QueryKind::kPrefix);
  const QuerySpace space(attribute);
  StrategySolver solver(space, BasisKind::kOblique, StrategyGoal::kMean);
  double rho = 1e300;
  double s = 0;
  for (double u = -3; u <= 4; u += 0.5) {
    const Strategy strategy = solver.Solve(u, 1e-8, 400);
    EXPECT_LE(strategy.relative_gap, 1e-8);
    EXPECT_LT(strategy.privacy_cost * strategy.residual_mean, rho);
    EXPECT_GT(strategy.constant_mean, s);
    rho = strategy.privacy_cost * strategy.residual_mean;
    s = strategy.constant_mean;
  }
}

TEST(StrategySolverTest, DegenerateMatricesAreRefused) {
  const Attribute attribute = Named(3, QueryKind::kPrefix);
  EXPECT_NO_THROW(BasisFromMatrix(attribute, {2, 3, {1, -1, 0, 0, 1, -1}}));
  // A null vector that sums to zero; dependent rows; a wrong shape; too few rows.
  EXPECT_THROW(BasisFromMatrix(attribute, {2, 3, {1, 1, 0, 0, 0, 1}}), Error);
  EXPECT_THROW(BasisFromMatrix(attribute, {2, 3, {1, -1, 0, 2, -2, 0}}), Error);
  EXPECT_THROW(BasisFromMatrix(attribute, {2, 2, {1, -1, 0, 2}}), Error);
  EXPECT_THROW(BasisFromMatrix(attribute, {1, 3, {1, -1, 0}}), Error);
  EXPECT_THROW(BasisFromMatrix(attribute, {2, 3, {1, -1, 0}}), Error);
}

TEST(StrategySolverTest, SensitivityIsExact) {
  const IntegerMatrix large{2, 2, {int64_t{1} << 62, 3, int64_t{1} << 62, -5}};
  EXPECT_EQ(SquaredSensitivity(large), Integer("42535295865117307932921825928971026432"));
  EXPECT_EQ(SquaredSensitivity({2, 2, {3, 1, -4, 1}}), 25);
}

// What was computed when releases of format 1 were made: the inverse of all rows by elimination.
TEST(BasisFromMatrixTest, BasesOfFormat1AreInvertedAsTheyWere) {
  const int64_t n = 300;  // large enough for the faster way
  const Attribute attribute{.name = "a", .size = n, .queries = QueryKind::kPrefix};
  IntegerMatrix matrix{n - 1, n, std::vector<int64_t>(static_cast<size_t>((n - 1) * n))};
  for (int64_t row = 0; row < n - 1; ++row) {
    for (int64_t k = row; k < n; ++k) {
      matrix.entries[static_cast<size_t>(row * n + k)] = k == row ? 1000 : -((row * 7 + k * 3) % 5);
    }
  }
  const ResidualBasis before = BasisFromMatrix(attribute, matrix, Inversion::kAsInFormat1);
  const ResidualBasis now = BasisFromMatrix(attribute, matrix);
  const double scale = std::sqrt(before.privacy_cost);
  MatrixXd stacked(n, n);
  stacked.row(0).setConstant(scale);
  for (int64_t row = 1; row < n; ++row) {
    for (int64_t k = 0; k < n; ++k) {
      stacked(row, k) = static_cast<double>(matrix.entries[static_cast<size_t>((row - 1) * n + k)]);
    }
  }
  const MatrixXd inverse = stacked.partialPivLu().inverse();
  EXPECT_TRUE(before.inverse->residual == inverse.rightCols(n - 1));
  EXPECT_TRUE(before.inverse->constant == inverse.col(0) * scale);
  EXPECT_FALSE(now.inverse->residual == before.inverse->residual);
  EXPECT_LT((now.inverse->residual - before.inverse->residual).cwiseAbs().maxCoeff(),
            1e-12 * before.inverse->residual.cwiseAbs().maxCoeff());
}

}  // namespace
}  // namespace residua
