// Bounds of trees of groups: attribute_split.h and lower_bound.h on what tree_root.h gives.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "residua/basis/tree/tree_root.h"
#include "residua/basis/tree/tree_solver.h"
#include "residua/select/bound/attribute_split.h"
#include "residua/select/lower_bound.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "tests/basis/tree_examples.h"
#include "tests/oracle/dense_mechanism.h"
#include "tests/oracle/optimal_mechanism.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Irregular trees: nodes of one child, groups of one cell, cells in no group, such as the one for
// missing values.
TEST(TreeBoundTest, SplitsOfTreesAreTheDenseOnesAndNeverAboveTheOptimum) {
  std::mt19937 random(12);
  int num_compared = 0;
  int num_exact = 0;
  int num_resolved = 0;
  int num_near = 0;
  int num_bounded = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Attribute attribute = RandomTree(3 + static_cast<int64_t>(random() % 14), random);
    const auto tree = std::make_shared<const CellTree>(*GroupTree(attribute));
    const StrategyGoal goal = trial % 3 == 2 ? StrategyGoal::kMax : StrategyGoal::kMean;
    TreeSolver solver(attribute, tree, goal);
    solver.Solve(0.5 * (trial % 7) - 1, 1e-4, 60);
    const VectorXd lambda = ScaledToOne(solver.multipliers());
    ASSERT_NEAR(lambda.sum(), 1, 1e-12);
    ASSERT_LE(lambda.sum(), 1);
    const TreeRoot root(tree, solver.weights(), lambda);

    // The same queries as a dense matrix, each with its part of its vertex's weight.
    const MatrixXd queries = oracle::DenseQueries(attribute);
    VectorXd vertex_of(queries.rows());
    for (int64_t cell = 0; cell < attribute.size; ++cell) {
      vertex_of(cell) = static_cast<double>(cell);
    }
    const std::vector<int64_t> vertices = VerticesOfGroups(attribute, *tree);
    VectorXd copies = VectorXd::Zero(solver.weights().size());
    for (size_t k = 0; k < vertices.size(); ++k) {
      vertex_of(attribute.size + static_cast<int64_t>(k)) = static_cast<double>(vertices[k]);
    }
    for (const double v : vertex_of) copies(static_cast<int64_t>(v)) += 1;
    VectorXd query_weight(queries.rows());
    for (int64_t q = 0; q < queries.rows(); ++q) {
      const auto v = static_cast<int64_t>(vertex_of(q));
      query_weight(q) = solver.weights()(v) / copies(v);
    }
    EXPECT_NEAR(query_weight.sum(), 1, 1e-9);
    const QuerySpace space(AsCustom(attribute));
    const AttributeFrame frame = FrameOf(space, query_weight);
    const AttributeSplit dense = SplitWithActive(RootOf(frame, lambda), 2);
    const AttributeSplit sparse = SplitOfTree(root, lambda, 2);
    EXPECT_NEAR(sparse.height / dense.height, 1, 1e-9) << trial;
    // A direction that is not determined well is given up, or states how well it is. With one left,
    // the two choose different ones.
    if (sparse.num_active == 2 && dense.num_active == 2) {
      ++num_compared;
      const double margin = sparse.margin + dense.margin;
      EXPECT_NEAR(sparse.rest, dense.rest, (1e-6 + margin) * (1 + dense.rest)) << trial;
      EXPECT_NEAR(sparse.corner, dense.corner, 1e-6 + margin) << trial;
      num_exact += margin <= 1e-6;
      // In the second row, cells of next to no weight drown in the rounding of the dense one's
      // eigenvalues.
      if (lambda.minCoeff() > 1e-4 * lambda.maxCoeff()) {
        ++num_resolved;
        EXPECT_NEAR(sparse.link, dense.link, (1e-5 + margin) * (1 + dense.link)) << trial;
        EXPECT_NEAR(sparse.second, dense.second, (1e-5 + margin) * (1 + dense.second)) << trial;
      }
    }

    // The table by itself: what the trace says, and the least loss.
    const AttributeSplit one = SplitOfTree(root, lambda, 1);
    const double bound = (one.corner + one.rest) * (one.corner + one.rest) / one.height *
                         (1 - one.margin - one.query_margin);
    const oracle::OptimumBounds optimum =
        goal == StrategyGoal::kMax
            ? oracle::LeastMaxVariance(queries, 200)
            : oracle::LeastTotalVariance(
                  queries.transpose() * queries / static_cast<double>(queries.rows()), 200);
    // The brute force may lose its inverse.
    if (!(optimum.upper >= optimum.lower * (1 - 1e-9))) continue;
    ++num_bounded;
    EXPECT_LE(bound, optimum.upper * (1 + 1e-9)) << trial;
    // At the trade-off of one table by itself, where the brute force came to its end.
    if (goal == StrategyGoal::kMax || trial % 7 != 2) continue;
    if (!(optimum.upper <= 1.001 * optimum.lower)) continue;
    ++num_near;
    EXPECT_GE(bound, 0.9995 * optimum.lower) << trial;
  }
  EXPECT_GE(num_compared, 250);
  EXPECT_GE(num_exact, 200);
  EXPECT_GE(num_resolved, 240);
  EXPECT_GE(num_near, 20);
  EXPECT_GE(num_bounded, 250);
}

// As large as trees of groups must be to be planned as such. Groups of one cell tell all cells
// apart, so that no two are exchangeable.
TEST(TreeBoundTest, OfAnAttributeIsBelowTheDenseOptimumAndNearIt) {
  std::mt19937 random(13);
  for (int trial = 0; trial < 12; ++trial) {
    Attribute attribute = RandomTree(129 + static_cast<int64_t>(random() % 12), random);
    for (int64_t cell = 1; cell < attribute.size; ++cell) {
      attribute.groups.push_back({"only" + std::to_string(cell), {cell}});
    }
    attribute.name = "tree";
    ASSERT_EQ(TreeFor(attribute)->kind, CellTree::Kind::kGroups);
    const Domain domain({attribute});
    const double of_total = trial % 2 == 0 ? 1 : 20;
    const Workload workload{{}, {{{}, of_total}, {{0}, 1}}};
    Objective objective;
    objective.weighting = Weighting::kEqual;
    const MatrixXd queries = oracle::DenseQueries(attribute);
    MatrixXd gram = queries.transpose() * queries / static_cast<double>(queries.rows());
    gram.array() += of_total;
    const oracle::OptimumBounds optimum = oracle::LeastTotalVariance(gram, 40);
    const double bound = LeastLossBound(domain, workload, objective);
    EXPECT_LE(bound, optimum.upper) << trial;
    EXPECT_GE(bound, 0.9995 * optimum.lower) << trial;
    const Plan plan = Select({domain, workload, objective, BudgetFromPcost(1)});
    EXPECT_GE(plan.loss, optimum.lower * (1 - 1e-9)) << trial;
    EXPECT_LE(plan.loss, 1.006 * bound) << trial;
  }
}

// Where no dense matrix could be.
TEST(TreeBoundTest, PlansOfLargeTreesAreNearIt) {
  std::mt19937 random(14);
  std::vector<int64_t> sizes;
  for (int g = 0; g < 600; ++g) sizes.push_back(1 + static_cast<int64_t>(random() % 20));
  Attribute attribute = TwoLevels(sizes, 1);
  for (size_t first = 0; first < 600;) {
    CellGroup state{"s" + std::to_string(first), {}};
    for (const size_t last = std::min<size_t>(600, first + 1 + random() % 60); first < last;
         ++first) {
      const CellGroup& county = attribute.groups[first];
      state.cells.insert(state.cells.end(), county.cells.begin(), county.cells.end());
    }
    attribute.groups.push_back(std::move(state));
  }
  attribute.name = "place";
  ASSERT_EQ(TreeFor(attribute)->kind, CellTree::Kind::kGroups);
  std::vector<Attribute> attributes = ParseDomain("9:prefix,3").attributes();
  attributes.push_back(attribute);
  for (const char* text : {"sum-variance", "p-norm=3", "max-variance"}) {
    const Plan plan = Select({Domain(attributes),
                              {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                              ParseObjective(text),
                              BudgetFromPcost(1)});
    const auto certificate = CertifyPlan(plan);
    ASSERT_TRUE(certificate) << text;
    EXPECT_GE(certificate->above_lower_bound, 0) << text;
    const bool max = plan.objective.kind == Objective::Kind::kMaxVariance;
    EXPECT_LE(certificate->above_lower_bound, max ? 0.05 : 0.0002) << text;
  }
}

}  // namespace
}  // namespace residua
