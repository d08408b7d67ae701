// Trees whose root is left some of the groups: cell_tree.h, tree_top.h, tree_solver.h and RoundCut.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <set>

#include "residua/basis/integer_basis.h"
#include "residua/basis/residual_basis.h"
#include "residua/basis/tree/tree_multipliers.h"
#include "residua/basis/tree/tree_solver.h"
#include "tests/basis/tree_examples.h"
#include "tests/oracle/optimal_mechanism.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<std::set<int64_t>> CellsOfVertices(const CellTree& tree) {
  std::vector<std::set<int64_t>> below(static_cast<size_t>(tree.num_cells + tree.num_nodes()));
  for (size_t v = 0; v < below.size(); ++v) {
    if (tree.is_cell(static_cast<int64_t>(v))) below[v] = {static_cast<int64_t>(v)};
    const int64_t parent = tree.parent[v];
    EXPECT_EQ(parent < 0, v + 1 == below.size());
    if (parent < 0) continue;
    below[static_cast<size_t>(tree.num_cells + parent)].insert(below[v].begin(), below[v].end());
  }
  return below;
}

TEST(CutTreeTest, HasEveryGroupBelowItsCutOrLeavesItToTheRoot) {
  std::mt19937 random(1);
  int num_cut = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int64_t size = 3 + static_cast<int64_t>(random() % 40);
    const Attribute attribute =
        trial % 2 == 0 ? RandomTree(size, random) : DeepTree(size, 5, random);
    const auto most = static_cast<int64_t>(2 + random() % 20);
    const auto tree = CutTree(attribute, most);
    if (!tree) continue;
    ++num_cut;
    EXPECT_EQ(tree->kind, CellTree::Kind::kCut);
    const int64_t root = tree->num_nodes() - 1;
    EXPECT_LE(tree->num_children(root), most);
    const auto below = CellsOfVertices(*tree);
    EXPECT_EQ(static_cast<int64_t>(below.back().size()), size);
    for (int64_t node = 0; node <= root; ++node) {
      ASSERT_GE(tree->num_children(node), 2);
      int64_t first = -1;
      for (int64_t c = 0; c < tree->num_children(node); ++c) {
        const auto& cells = below[static_cast<size_t>(tree->children_of(node)[c])];
        EXPECT_GT(*cells.begin(), first);
        first = *cells.begin();
      }
    }
    const std::vector<int64_t> vertices = VerticesOfGroups(attribute, *tree);
    for (size_t g = 0; g < vertices.size(); ++g) {
      const std::set<int64_t> cells(attribute.groups[g].cells.begin(),
                                    attribute.groups[g].cells.end());
      if (vertices[g] >= 0) {
        EXPECT_EQ(below[static_cast<size_t>(vertices[g])], cells);
        continue;
      }
      // A union of the root's children.
      for (int64_t c = 0; c < tree->num_children(root); ++c) {
        const auto& child = below[static_cast<size_t>(tree->children_of(root)[c])];
        const auto inside = std::count_if(child.begin(), child.end(),
                                          [&](int64_t cell) { return cells.contains(cell); });
        EXPECT_TRUE(inside == 0 || inside == static_cast<int64_t>(child.size()));
      }
    }
    // What a plan states of it, the number of the root's children, makes the same tree.
    EXPECT_EQ(CutTree(attribute, tree->num_children(root)), tree);
    // With nothing left below the cut but cells that can be exchanged, it has at most the blocks.
    const CellTree blocks = BlockTree(attribute);
    const auto whole = CutTree(attribute, size);
    ASSERT_TRUE(whole);
    EXPECT_LE(whole->num_children(whole->num_nodes() - 1),
              blocks.num_children(blocks.num_nodes() - 1));
    for (int64_t node = 0; node + 1 < whole->num_nodes(); ++node) {
      for (int64_t c = 0; c < whole->num_children(node); ++c) {
        EXPECT_TRUE(whole->is_cell(whole->children_of(node)[c]));
      }
    }
  }
  EXPECT_GT(num_cut, 100);
  Attribute overlap = Named(5, QueryKind::kHierarchy);
  overlap.groups = {{"a", {0, 1, 2}}, {"b", {2, 3}}};
  EXPECT_FALSE(CutTree(overlap, 4));
  EXPECT_FALSE(CutTree(TwoLevels({3}), 4)) << "one node is all there is";
  EXPECT_FALSE(CutTree(TwoLevels({3, 2, 4}), 2)) << "the root would have three";
}

double ValueOf(const Strategy& strategy, double eta) {
  return strategy.residual_mean + (strategy.constant_mean + eta) / (1 - strategy.privacy_cost);
}

// Irregular trees with weights of levels. Left all groups, the root has the optimum, with a
// negative eta too; and multipliers prove it. Left some, the family is in between.
TEST(CutTreeTest, TheSolverReachesTheDenseOptimum) {
  std::mt19937 random(2);
  int num_between = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const int64_t size = 6 + static_cast<int64_t>(random() % 24);
    Attribute attribute = trial % 2 == 0 ? RandomTree(size, random) : DeepTree(size, 6, random);
    WeighLevels(trial % 3, random, &attribute);
    const auto groups = std::make_shared<const CellTree>(*GroupTree(attribute));
    TreeSolver plain(attribute, groups, StrategyGoal::kMean);
    const double trade_off = trial % 5 - 1.0;
    const double eta = std::expm1(trade_off) / plain.height();
    const double by_groups = ValueOf(plain.Solve(trade_off, 1e-8, 20'000), eta);

    const MatrixXd below = [&] {
      MatrixXd rows = MatrixXd::Zero(plain.weights().size(), size);
      const auto cells = CellsOfVertices(*groups);
      for (size_t v = 0; v < cells.size(); ++v) {
        for (const int64_t cell : cells[v]) rows(static_cast<int64_t>(v), cell) = 1;
      }
      return rows;
    }();
    const MatrixXd gram = below.transpose() * plain.weights().asDiagonal() * below +
                          MatrixXd::Constant(size, size, eta);
    const oracle::OptimumBounds optimum = oracle::LeastTotalVariance(gram, 3000);
    const TreeMultipliers climbed = ClimbMultipliers({groups, plain.weights(), {{1, eta}}},
                                                     plain.multipliers(), {1e300, 1e-12, 500});
    EXPECT_LE(climbed.proven * climbed.proven, optimum.upper * (1 + 1e-9)) << trial;
    EXPECT_GE(climbed.proven * climbed.proven, optimum.lower * (1 - 1e-6)) << trial;
    EXPECT_GE(by_groups, optimum.lower * (1 - 1e-8)) << trial;
    const auto whole_cut = CutTree(attribute, size);
    if (!whole_cut) continue;
    for (const CellTree& tree : {BlockTree(attribute), *whole_cut}) {
      const auto shared = std::make_shared<const CellTree>(tree);
      TreeSolver whole(attribute, shared, StrategyGoal::kMean);
      EXPECT_NEAR(whole.height() / plain.height(), 1, 1e-9) << trial;
      const Strategy best = whole.Solve(trade_off, 1e-8, 20'000, true);
      EXPECT_NEAR(ValueOf(best, eta) / optimum.upper, 1, 1e-4) << trial;
      EXPECT_GE(ValueOf(best, eta), optimum.lower * (1 - 1e-8)) << trial;
      const ResidualBasis basis =
          BasisFromTree(attribute, RoundCut(shared, FactorBasis(best.gram, best.constant),
                                            best.tree_precision, best.tree_share, 18));
      EXPECT_NEAR(basis.privacy_cost * basis.weighted_mean.residual /
                      (best.privacy_cost * best.residual_mean),
                  1, 1e-3)
          << trial;
    }
    const int64_t num_children = whole_cut->num_children(whole_cut->num_nodes() - 1);

    const auto cut = CutTree(attribute, 1 + num_children / 2);
    if (!cut) continue;
    TreeSolver some(attribute, std::make_shared<const CellTree>(*cut), StrategyGoal::kMean);
    some.StartFrom(plain.multipliers());
    const double by_cut = ValueOf(some.Solve(trade_off, 1e-8, 20'000), eta);
    EXPECT_GE(by_cut, optimum.lower * (1 - 1e-8)) << trial;
    EXPECT_LE(by_cut, by_groups * (1 + 2e-3)) << trial;
    num_between += by_cut < by_groups * (1 - 1e-5);
  }
  EXPECT_GT(num_between, 3);
}

}  // namespace
}  // namespace residua
