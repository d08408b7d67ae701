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

}  // namespace
}  // namespace residua
