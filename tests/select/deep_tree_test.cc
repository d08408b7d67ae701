// Plans of deep and irregular hierarchies, by certificate: basis_type.h, bound/tree_bound.h.

#include <gtest/gtest.h>

#include <random>

#include "residua/basis/tree_matrix.h"
#include "residua/select/lower_bound.h"
#include "residua/select/select.h"
#include "residua/select/tree_sensitivity.h"
#include "residua/text/choice_text.h"
#include "tests/basis/tree_examples.h"
#include "tests/oracle/dense_mechanism.h"
#include "tests/oracle/optimal_mechanism.h"

namespace residua {
namespace {

SelectRequest Alone(Attribute attribute) {
  return {Domain({std::move(attribute)}),
          {{{MarginalRule::Kind::kUpTo, 1}}, {}},
          ParseObjective("sum-variance"),
          BudgetFromPcost(1)};
}

// Of one attribute and the total the bound is the optimum itself: nothing is pinched.
TEST(DeepTreeTest, BoundsOfSmallTreesAreTheDenseOptimum) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 40; ++trial) {
    const int64_t size = 3 + static_cast<int64_t>(random() % 20);
    Attribute attribute = trial % 2 == 0 ? RandomTree(size, random) : DeepTree(size, 6, random);
    if (trial % 4 > 0) WeighLevels(trial % 4, random, &attribute);
    const Plan plan = Select(Alone(attribute));
    const AnswerWeights weights = WeighAnswers(attribute);
    const Eigen::MatrixXd queries = oracle::DenseQueries(attribute);
    const Eigen::Map<const Eigen::VectorXd> share(weights.share.data(), queries.rows());
    const Eigen::MatrixXd gram =
        queries.transpose() * share.asDiagonal() * queries + Eigen::MatrixXd::Ones(size, size);
    const oracle::OptimumBounds optimum = oracle::LeastTotalVariance(gram, 2000);
    const double bound = LeastLossBound(plan.domain, plan.workload, plan.objective);
    EXPECT_LE(bound, optimum.upper * (1 + 1e-9)) << trial;
    EXPECT_GE(bound, optimum.lower * (1 - 1e-3)) << trial;
    EXPECT_LE(plan.loss, optimum.upper * 1.002) << trial;
  }
}

// Levels that count alike, and weights of levels over two and six orders of magnitude.
TEST(DeepTreeTest, PlansAreWithinAPercentOfTheirBound) {
  std::mt19937 random(3);
  int num_left_to_root = 0;
  for (int trial = 0; trial < 6; ++trial) {
    Attribute attribute = DeepTree(trial < 3 ? 900 : 2500, trial % 2 == 0 ? 6 : 12, random);
    WeighLevels(trial % 3 == 0 ? 0 : trial % 3 == 1 ? 2 : 6, random, &attribute);
    const Plan plan = Select(Alone(attribute));
    const auto certificate = CertifyPlan(plan);
    ASSERT_TRUE(certificate) << trial;
    EXPECT_GE(certificate->above_lower_bound, -1e-9) << trial;
    EXPECT_LE(certificate->above_lower_bound, 0.01) << trial;
    VerifyPlan(plan);
    for (const ResidualBasis& basis : plan.bases) {
      if (const auto* tree = std::get_if<TreeMatrix>(&basis.matrix)) {
        EXPECT_EQ(RecomputedSensitivity(*tree), basis.squared_sensitivity) << trial;
        num_left_to_root += !tree->nodes.back().dense.empty();
      }
    }
  }
  EXPECT_GT(num_left_to_root, 2);
}

// One group, or two, of all cells: the queries are those of a plain table and its total.
TEST(DeepTreeTest, AGroupOfAllCellsIsBounded) {
  for (const int64_t size : {2, 40, 130, 3000}) {
    for (const std::vector<double>& weights :
         {std::vector<double>{}, {1, 1}, {0.001, 1000}, {1000, 0.001}}) {
      for (const bool twice : {false, true}) {
        Attribute attribute = TwoLevels({size});
        attribute.level_weights = weights;
        if (twice) attribute.groups.push_back({"again", attribute.groups.front().cells});
        if (twice && !weights.empty()) attribute.level_weights.push_back(1);
        const Plan plan = Select(Alone(attribute));
        const auto certificate = CertifyPlan(plan);
        ASSERT_TRUE(certificate) << size;
        EXPECT_GE(certificate->above_lower_bound, -1e-9) << size;
        EXPECT_LE(certificate->above_lower_bound, 2e-3) << size;
      }
    }
  }
}

// Beside identity attributes, in tables of up to two.
TEST(DeepTreeTest, BoundsHoldBesideOtherAttributes) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 6; ++trial) {
    Attribute attribute = DeepTree(trial < 3 ? 12 : 400, 6, random);
    WeighLevels(2 * (trial % 3), random, &attribute);
    attribute.name = "place";
    SelectRequest request = Alone(attribute);
    request.domain = Domain({attribute, {.name = "sex", .size = 2}, {.name = "age", .size = 5}});
    request.workload = {{{MarginalRule::Kind::kUpTo, 2}}, {}};
    const Plan plan = Select(request);
    const auto certificate = CertifyPlan(plan);
    ASSERT_TRUE(certificate) << trial;
    EXPECT_GE(certificate->above_lower_bound, -1e-9) << trial;
    EXPECT_LE(certificate->above_lower_bound, 0.03) << trial;
  }
}

}  // namespace
}  // namespace residua
