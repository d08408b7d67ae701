#include "residua/basis/tree/tree_root.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "tests/basis/tree_examples.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Row v: 1 for the cells below vertex v.
MatrixXd CellsBelow(const CellTree& tree) {
  MatrixXd below = MatrixXd::Zero(tree.num_cells + tree.num_nodes(), tree.num_cells);
  below.topRows(tree.num_cells).setIdentity();
  for (int64_t node = 0; node < tree.num_nodes(); ++node) {
    for (int64_t c = 0; c < tree.num_children(node); ++c) {
      below.row(tree.num_cells + node) += below.row(tree.children_of(node)[c]);
    }
  }
  return below;
}

// Irregular trees, with weights that spread over `decades`, and nodes that nobody asks for.
TEST(TreeRootTest, IsTheRootOfTheDenseMatrix) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 300; ++trial) {
    const int64_t n = 2 + static_cast<int64_t>(random() % 20);
    const auto tree = std::make_shared<const CellTree>(*GroupTree(RandomTree(n, random)));
    const double decades = trial % 3 * 2;
    VectorXd weight(n + tree->num_nodes());
    for (double& w : weight) w = std::pow(10, -decades * uniform(random));
    for (Index v = n; v < weight.size(); ++v) {
      if (random() % 4 == 0) weight(v) = 0;
    }
    VectorXd lambda(n);
    for (double& l : lambda) l = std::pow(10, -decades / 2 * uniform(random));
    lambda /= lambda.sum();
    const MatrixXd below = CellsBelow(*tree);
    const MatrixXd queries = below.transpose() * weight.asDiagonal() * below;
    const VectorXd half = lambda.cwiseSqrt();
    const MatrixXd matrix = half.asDiagonal() * queries * half.asDiagonal();
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(matrix);
    const MatrixXd root = eigen.operatorSqrt();
    const MatrixXd inverse = matrix.inverse();
    const TreeRoot fast(tree, weight, lambda);
    EXPECT_GE(fast.most(), eigen.eigenvalues().maxCoeff() * (1 - 1e-12)) << trial;
    EXPECT_GE(fast.most_inverse(), (1 - 1e-12) / eigen.eigenvalues().minCoeff()) << trial;
    // The dense ones are right to their condition number's last digits only.
    const double error = 1e-14 * std::pow(10, decades + 1);
    EXPECT_LT((fast.Diagonal() - root.diagonal()).norm(), error * root.norm()) << trial;
    const VectorXd x = VectorXd::Random(n);
    EXPECT_LT((fast.Apply(x) - root * x).norm(), error * root.norm() * x.norm()) << trial;
    EXPECT_LT((fast.Inverse(x) - inverse * x).norm(), error * inverse.norm() * x.norm()) << trial;
    const MatrixXd inverse_root = eigen.operatorInverseSqrt();
    EXPECT_LT((fast.InverseRootOfLambda() - inverse_root * half).norm(), error) << trial;
    EXPECT_LT((fast.InverseDiagonal() - inverse_root.diagonal()).norm(),
              error * inverse_root.norm())
        << trial;
    const VectorXd ones = VectorXd::Ones(n);
    EXPECT_NEAR(fast.height() / ones.dot(queries.ldlt().solve(ones)), 1, error) << trial;
  }
}

// A root's weight below zero, as far as V stays positive definite.
TEST(TreeRootTest, TheWeightOfAllCellsMayBeNegative) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t n = 2 + static_cast<int64_t>(random() % 12);
    const auto tree = std::make_shared<const CellTree>(*GroupTree(RandomTree(n, random)));
    VectorXd weight(n + tree->num_nodes());
    for (double& w : weight) w = 0.1 + static_cast<double>(random() % 100) / 100;
    VectorXd lambda(n);
    for (double& l : lambda) l = 0.1 + static_cast<double>(random() % 100) / 100;
    lambda /= lambda.sum();
    const double scale = 1 / TreeRoot(tree, weight, lambda).height();
    weight(weight.size() - 1) -= 0.9 * scale;
    const MatrixXd below = CellsBelow(*tree);
    const VectorXd half = lambda.cwiseSqrt();
    const MatrixXd matrix =
        half.asDiagonal() * below.transpose() * weight.asDiagonal() * below * half.asDiagonal();
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(matrix);
    const TreeRoot fast(tree, weight, lambda);
    EXPECT_NEAR(fast.height() * scale, 10, 1e-9) << trial;
    EXPECT_GE(fast.most_inverse(), (1 - 1e-12) / eigen.eigenvalues().minCoeff()) << trial;
    EXPECT_LT((fast.Diagonal() - eigen.operatorSqrt().diagonal()).norm(), 1e-11) << trial;
    EXPECT_LT((fast.InverseRootOfLambda() - eigen.operatorInverseSqrt() * half).norm(), 1e-10);
    EXPECT_LT((fast.InverseDiagonal() - eigen.operatorInverseSqrt().diagonal()).norm(), 1e-10);
  }
}

// Applied twice, it is the matrix itself, of tens of thousands of cells.
TEST(TreeRootTest, HoldsForTensOfThousandsOfCells) {
  std::mt19937 random(6);
  std::vector<int64_t> sizes;
  for (int g = 0; g < 900; ++g) sizes.push_back(1 + static_cast<int64_t>(random() % 40));
  const auto tree = std::make_shared<const CellTree>(*GroupTree(TwoLevels(sizes, 1)));
  const Index n = tree->num_cells;
  ASSERT_GT(n, 15'000);
  const VectorXd weight = VectorXd::Constant(n + tree->num_nodes(), 0.5);
  const VectorXd lambda = VectorXd::Constant(n, 1 / static_cast<double>(n));
  const TreeRoot root(tree, weight, lambda);
  const VectorXd x = VectorXd::Random(n);
  const VectorXd squared = root.Apply(root.Apply(x));
  EXPECT_LT((root.Inverse(squared) - x).norm(), 1e-10 * x.norm());
  EXPECT_NEAR(squared(n - 1), lambda(0) * (0.5 * x(n - 1) + 0.5 * x.sum()), 1e-12 * x.norm());
}

}  // namespace
}  // namespace residua
