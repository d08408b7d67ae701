#include "residua/basis/bidiagonal_root.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Pivots that spread over `decades`.
TEST(BidiagonalRootTest, IsTheRootOfTheDenseMatrix) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const Index n : {1, 2, 3, 17, 40}) {
    for (const double decades : {0.0, 2.0, 6.0}) {
      for (const double factor : {0.0, 0.4, -0.7}) {
        VectorXd pivots(n);
        VectorXd below(n - 1);
        for (double& pivot : pivots) pivot = std::pow(10, decades * uniform(random));
        for (double& entry : below) entry = -uniform(random);
        MatrixXd lower = MatrixXd::Identity(n, n);
        for (Index k = 0; k + 1 < n; ++k) lower(k + 1, k) = below(k);
        MatrixXd inverse = lower * pivots.asDiagonal() * lower.transpose();
        VectorXd update;
        if (factor != 0) {
          // Leaves a positive definite matrix: u^T (L D L^T)^-1 u = 1.
          update = VectorXd::Random(n);
          update /= std::sqrt(update.dot(inverse.ldlt().solve(update)));
          inverse -= factor * update * update.transpose();
        }
        const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(inverse);
        const MatrixXd root = eigen.eigenvectors() *
                              eigen.eigenvalues().cwiseInverse().cwiseSqrt().asDiagonal() *
                              eigen.eigenvectors().transpose();
        const double trace = eigen.eigenvalues().cwiseInverse().sum();
        const BidiagonalRoot fast(pivots, below, update, factor, trace);
        const double size = root.norm();
        // The dense inverse itself is right to its condition number's last digits only.
        const double error = 1e-14 * std::pow(10, decades / 2 + 1);
        EXPECT_LT((fast.Dense() - root).norm(), error * size);
        EXPECT_LT((fast.Diagonal() - root.diagonal()).norm(), error * size);
        const VectorXd x = VectorXd::Random(n);
        EXPECT_LT((fast.Apply(x) - root * x).norm(), error * size * x.norm());
        EXPECT_LT((fast.Inverse(x) - inverse * x).norm(), 1e-14 * inverse.norm() * x.norm());
      }
    }
  }
}

// Summed in long double, so that only the terms themselves are wrong.
TEST(BidiagonalRootTest, TermsAreRightToTheirTolerance) {
  for (const double decades : {0.0, 0.1, 1.0, 6.0, 15.0, 30.0, 150.0}) {
    for (const double least : {1.0, 3.7e-3, 1e-60}) {
      const double most = least * std::pow(10, decades);
      const std::vector<RootTerm> terms = RootTerms(least, most);
      for (int k = 0; k <= 100; ++k) {
        const long double x = least * std::pow(10.0L, decades * k / 100.0L);
        long double sum = 0;
        for (const RootTerm& term : terms) sum += term.weight / (x + term.shift);
        EXPECT_NEAR(static_cast<double>(sum * std::sqrt(x)), 1, kRootTolerance / 4)
            << decades << " " << least << " " << k;
      }
    }
  }
}

// Against the same recurrences in long double: what is stated holds, cells spread over decades.
TEST(BidiagonalRootTest, ErrsByLessThanItSays) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const Index n : {2, 50, 1000}) {
    for (const double decades : {0.0, 4.0, 14.0}) {
      VectorXd pivots(n);
      VectorXd below(n - 1);
      for (double& pivot : pivots) pivot = std::pow(10, decades * uniform(random));
      for (double& entry : below) entry = -std::pow(10, decades / 4 * (uniform(random) - 0.5));
      // The trace of the inverse of L diag(pivots) L^T, whose entries are positive.
      double trace = 0;
      double column = 0;
      for (Index k = n - 1; k >= 0; --k) {
        column = 1 / pivots(k) + (k + 1 < n ? below(k) * below(k) * column : 0);
        trace += column;
      }
      const BidiagonalRoot root(pivots, below, {}, 0, trace * (1 + 1e-9));
      using Wide = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
      VectorXd x(n);
      for (double& entry : x) entry = uniform(random);
      Wide product = Wide::Zero(n);
      for (const RootTerm& term : RootTerms(1 / (trace * (1 + 1e-9)), root.most_inverse())) {
        Wide pivot(n);
        Wide factor(n);
        long double rest = term.shift;
        for (Index k = 0; k < n; ++k) {
          pivot(k) = rest + pivots(k);
          if (k + 1 == n) break;
          factor(k) = pivots(k) * static_cast<long double>(below(k)) / pivot(k);
          rest = factor(k) * below(k) * rest + term.shift;
        }
        Wide solved = x.cast<long double>();
        for (Index k = 1; k < n; ++k) solved(k) -= factor(k - 1) * solved(k - 1);
        solved.array() /= pivot.array();
        for (Index k = n - 1; k > 0; --k) solved(k - 1) -= factor(k - 1) * solved(k);
        product += static_cast<long double>(term.weight) * solved;
      }
      const VectorXd computed = root.Apply(x);
      for (Index k = 0; k < n; ++k) {
        EXPECT_NEAR(computed(k) / static_cast<double>(product(k)), 1,
                    root.relative_error() - kRootTolerance + 1e-15)
            << n << " " << decades << " " << k;
      }
    }
  }
}

// Squared, it is the matrix of range queries, whose inverse is the second difference.
TEST(BidiagonalRootTest, HoldsForThousandsOfCells) {
  const Index n = 1500;
  VectorXd pivots(n);
  VectorXd below(n - 1);
  for (Index k = 0; k < n; ++k) pivots(k) = static_cast<double>(k + 2) / static_cast<double>(k + 1);
  for (Index k = 0; k + 1 < n; ++k) below(k) = -1 / pivots(k);
  const auto size = static_cast<double>(n);
  const BidiagonalRoot root(pivots, below, {}, 0, size * (size + 1) * (size + 2) / 6 / (size + 1));
  const VectorXd diagonal = root.Diagonal();
  for (const Index j : {Index{0}, Index{700}, n - 1}) {
    const VectorXd column = root.Apply(VectorXd::Unit(n, j));
    EXPECT_NEAR(column(j) / diagonal(j), 1, 1e-12);
    const auto place = static_cast<double>(j + 1);
    EXPECT_NEAR(column.squaredNorm() / (place * (size + 1 - place) / (size + 1)), 1, 1e-12);
  }
}

// Both squares have the same eigenvalues; sums are those of the first cells, or of the last.
TEST(BidiagonalRootTest, RootsOfSumsAreThoseOfTheDenseMatrices) {
  for (const Index n : {1, 2, 3, 30}) {
    const VectorXd weight = VectorXd::Random(n).array().exp();
    const VectorXd cells = VectorXd::Random(n).array().exp();
    const MatrixXd first = MatrixXd::Ones(n, n).triangularView<Eigen::Lower>();
    const MatrixXd last = MatrixXd::Ones(n, n).triangularView<Eigen::Upper>();
    const MatrixXd of_cells = cells.cwiseSqrt().asDiagonal() * first.transpose() *
                              weight.asDiagonal() * first * cells.cwiseSqrt().asDiagonal();
    const MatrixXd of_sums = weight.cwiseSqrt().asDiagonal() * last * cells.asDiagonal() *
                             last.transpose() * weight.cwiseSqrt().asDiagonal();
    const MatrixXd root_of_cells = RootOfSummedCells(weight, cells).Dense();
    const MatrixXd root_of_sums = RootOfSums(weight, cells).Dense();
    EXPECT_LT((root_of_cells * root_of_cells - of_cells).norm(), 1e-11 * of_cells.norm());
    EXPECT_LT((root_of_sums * root_of_sums - of_sums).norm(), 1e-11 * of_sums.norm());
  }
}

}  // namespace
}  // namespace residua
