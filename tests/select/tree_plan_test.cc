#include <gtest/gtest.h>

#include <cmath>

#include "residua/base/error.h"
#include "residua/basis/query_limits.h"
#include "residua/basis/tree_matrix.h"
#include "residua/select/lower_bound.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/select/tree_sensitivity.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "tests/basis/tree_examples.h"
#include "tests/oracle/dense_mechanism.h"
#include "tests/select/dense_comparison.h"

namespace residua {
namespace {

SelectRequest With(Attribute attribute, const std::string& objective) {
  std::vector<Attribute> attributes = ParseDomain("4:prefix,3").attributes();
  attribute.name = "place";
  attributes.push_back(std::move(attribute));
  return {Domain(attributes),
          {{{MarginalRule::Kind::kUpTo, 2}}, {}},
          ParseObjective(objective),
          BudgetFromPcost(1)};
}

const TreeMatrix& TreeOf(const Plan& plan) {
  for (const ResidualBasis& basis : plan.bases) {
    if (const auto* tree = std::get_if<TreeMatrix>(&basis.matrix)) return *tree;
  }
  throw std::logic_error("no tree");
}

// The loss and its bound are those of the dense basis, for the same queries given as a matrix.
TEST(TreePlanTest, IsTheDensePlan) {
  const std::vector<Attribute> attributes = {TwoLevels({20, 20, 20, 20, 20, 20, 20}),
                                             TwoLevels({1, 70, 3, 9, 44, 2}, 3)};
  for (const Attribute& attribute : attributes) {
    for (const std::string objective : {"sum-variance", "max-variance", "p-norm=3"}) {
      if (objective == "max-variance" && attribute.groups.size() == 6) continue;  // dense: minutes
      const Plan plan = Select(With(attribute, objective));
      const Plan dense = Select(With(AsCustom(attribute), objective));
      EXPECT_EQ(TreeOf(plan).tree->kind, CellTree::Kind::kBlocks);
      EXPECT_NEAR(plan.loss / dense.loss, 1, objective == "max-variance" ? 5e-3 : 2e-4);
      VerifyPlan(plan);
      const double bound = CertifyPlan(plan)->lower_bound;
      EXPECT_NEAR(bound / CertifyPlan(dense)->lower_bound, 1, 2e-3);
      EXPECT_LE(bound, plan.loss);
    }
  }
}

// Every figure of a plan with a tree is that of dense matrices, whatever its numbers.
TEST(TreePlanTest, CostsAndCovariancesAgreeWithDenseMatrices) {
  std::mt19937 random(8);
  for (int trial = 0; trial < 12; ++trial) {
    Attribute attribute = RandomTree(4 + static_cast<int64_t>(random() % 5), random);
    SelectRequest request = With(attribute, trial % 2 == 0 ? "sum-variance" : "max-variance");
    const Plan chosen = Select(request);  // small: dense
    request.matrices = MatrixOfAttributes(chosen);
    request.matrices.back() =
        RandomTreeMatrix(trial % 4 < 2 ? BlockTree(attribute) : *GroupTree(attribute), random);
    const Plan plan = Select(request);
    VerifyPlan(plan);
    EXPECT_NEAR(oracle::PrivacyCostMatrix(plan).diagonal().maxCoeff(), 1, 1e-6);
    const double largest = ExpectDenseCovariances(plan, 5, random).max_variance;
    EXPECT_NEAR(Summarize(plan, PredictErrors(plan)).max_variance / largest, 1, 1e-7);
    ExpectReplacedRowsCostAtMost(request);
  }
}

TEST(TreePlanTest, LargeTreesArePlannedByTheirGroups) {
  // 600 groups of two levels, of different sizes, and cells in none.
  std::vector<int64_t> sizes;
  for (int64_t k = 0; k < 600; ++k) sizes.push_back(1 + k * k % 17);
  Attribute attribute = TwoLevels(sizes, 2);
  const size_t num_lowest = attribute.groups.size();
  for (size_t first = 0; first < num_lowest; first += 40) {
    CellGroup upper{"u" + std::to_string(first), {}};
    for (size_t g = first; g < first + 40; ++g) {
      upper.cells.insert(upper.cells.end(), attribute.groups[g].cells.begin(),
                         attribute.groups[g].cells.end());
    }
    attribute.groups.push_back(std::move(upper));
  }
  ASSERT_GT(attribute.size, kMaxBasisCells);
  for (const std::string objective : {"sum-variance", "max-variance"}) {
    const Plan plan = Select(With(attribute, objective));
    EXPECT_EQ(TreeOf(plan).tree->kind, CellTree::Kind::kGroups);
    VerifyPlan(plan);
  }
  SelectRequest request = With(attribute, "sum-variance");
  request.basis = BasisKind::kOrthogonal;
  EXPECT_THROW(Select(request), Error);
  attribute.groups.push_back({"across", {0, 5000}});
  EXPECT_THROW(Select(With(attribute, "sum-variance")), Error);
}

TEST(TreePlanTest, SensitivitiesAreRecomputedExactly) {
  std::mt19937 random(6);
  for (int trial = 0; trial < 100; ++trial) {
    const Attribute attribute = RandomTree(3 + static_cast<int64_t>(random() % 15), random);
    const TreeMatrix matrix =
        RandomTreeMatrix(trial % 2 == 0 ? BlockTree(attribute) : *GroupTree(attribute), random);
    EXPECT_EQ(RecomputedSensitivity(matrix), SquaredSensitivity(matrix));
    EXPECT_EQ(RecomputedSensitivity(matrix), SquaredSensitivity(Expanded(matrix)));
  }
}

// A plan whose basis was changed costs something else, or is none for its attribute.
TEST(TreePlanTest, ChangedBasesAreRefused) {
  const Plan plan = Select(With(TwoLevels({20, 50, 30, 40}), "sum-variance"));
  VerifyPlan(plan);
  const auto refused = [&](const auto& change) {
    Plan changed = plan;
    for (ResidualBasis& basis : changed.bases) {
      if (auto* tree = std::get_if<TreeMatrix>(&basis.matrix)) change(tree);
    }
    try {
      VerifyPlan(changed);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kRefused;
    }
    return false;
  };
  EXPECT_TRUE(refused([](TreeMatrix* tree) { tree->nodes[0].factors[0] *= 2; }));
  EXPECT_TRUE(refused([](TreeMatrix* tree) { tree->nodes.back().dense[0] *= 2; }));
  EXPECT_TRUE(refused([](TreeMatrix* tree) { tree->nodes.pop_back(); }));
  EXPECT_TRUE(refused([](TreeMatrix* tree) {
    tree->tree = std::make_shared<const CellTree>(BlockTree(TwoLevels({20, 50, 40, 30})));
  }));
}

}  // namespace
}  // namespace residua
