// The bound beside the optimum over every mechanism, by brute force on small domains.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "residua/select/bound/dense_bound.h"
#include "residua/select/lower_bound.h"
#include "residua/text/domain_text.h"
#include "tests/oracle/optimal_mechanism.h"
#include "tests/oracle/random_workload.h"
#include "tests/select/every_cell.h"

namespace residua {
namespace {

TEST(BoundAndOptimumTest, IsNeverAboveTheBruteForceOptimum) {
  Attribute tree;
  tree.name = "tree";
  tree.size = 5;
  tree.queries = QueryKind::kHierarchy;
  tree.groups = {{"left", {0, 1}}, {"right", {2, 3, 4}}};
  Attribute custom;  // does not tell its last two cells apart
  custom.name = "custom";
  custom.size = 4;
  custom.queries = QueryKind::kCustom;
  custom.custom = {3, {1, 1, 1, 1, 2, 1, 0, 0, 0, 3, 1, 1}};
  std::vector<Domain> domains;
  for (const char* text : {"6:prefix*2", "5:range,4:prefix", "4:prefix*3", "3,5:range,2"}) {
    domains.push_back(ParseDomain(text));
  }
  for (const Attribute& extra : {tree, custom}) {
    std::vector<Attribute> attributes = ParseDomain("3,4:prefix").attributes();
    attributes.push_back(extra);
    domains.emplace_back(attributes);
  }
  for (const Domain& domain : domains) {
    for (const char* marginals : {"1", "2", "<=2", "3"}) {
      if (domain.size() < 3 && std::string(marginals) == "3") continue;
      const Plan plan = PlanOf(domain, Marginals(marginals), "sum-variance");
      const Eigen::MatrixXd queries = StackQueries(plan);
      const double bound = BoundOf(domain, plan.workload, "sum-variance");
      const oracle::OptimumBounds optimum =
          oracle::LeastTotalVariance(queries.transpose() * queries, 300);
      EXPECT_LE(bound, optimum.upper * (1 + 1e-9)) << domain[0].size << " " << marginals;
      EXPECT_GE(bound, 0.985 * optimum.lower) << domain[0].size << " " << marginals;
      EXPECT_LE(bound, plan.loss * (1 + 1e-9)) << domain[0].size << " " << marginals;
    }
  }
}

TEST(BoundAndOptimumTest, OfTheLargestVarianceIsNeverAboveTheBruteForceOptimum) {
  // The brute force needs queries that tell all cells apart.
  for (const char* domain : {"8:prefix*2", "5:range,4:prefix", "3,6:prefix"}) {
    for (const char* marginals : {"2", "<=2"}) {
      const Plan plan = PlanOf(ParseDomain(domain), Marginals(marginals), "max-variance");
      const oracle::OptimumBounds optimum = oracle::LeastMaxVariance(StackQueries(plan), 300);
      const double bound = BoundOf(plan.domain, plan.workload, "max-variance");
      EXPECT_LE(bound, optimum.upper * (1 + 1e-9)) << domain << " " << marginals;
      EXPECT_GE(bound, 0.97 * optimum.lower) << domain << " " << marginals;
    }
  }
}

// About a hundred cells, and tables that make products of weights lose up to 5 %.
TEST(BoundAndOptimumTest, OfTheLargestVarianceIsNearTheOptimumOfAHundredCells) {
  std::vector<Attribute> attributes = ParseDomain("2,3,8,2:range").attributes();
  for (const size_t i : {1, 2}) {
    const int64_t size = attributes[i].size;
    attributes[i].queries = QueryKind::kHierarchy;
    attributes[i].groups = {{"first", {0}}, {"last", {size - 2, size - 1}}};
  }
  const Domain domain(attributes);
  const Workload workload = {ParseMarginalRules("1,4"), {{{0, 1}, 1}, {{0, 2}, 1}, {{1, 2, 3}, 1}}};
  const Plan plan = PlanOf(domain, workload, "max-variance");
  const oracle::OptimumBounds optimum = oracle::LeastMaxVariance(StackQueries(plan), 100);
  const double bound = BoundOf(domain, workload, "max-variance");
  EXPECT_LE(bound, optimum.upper);
  EXPECT_GE(bound, 0.97 * optimum.lower);
  EXPECT_GE(plan.loss, optimum.lower * (1 - 1e-9));
}

// Identity attributes add no records to the dense bound: 2,160 here, of which 24 are left.
TEST(BoundAndOptimumTest, OfTheLargestVarianceNeedsFewRecordsBesideIdentities) {
  const Domain small = ParseDomain("4:prefix,6:range,3,3");
  const Workload workload = {{}, {{{0}, 1}, {{1}, 5}, {{0, 2}, 3}, {{2, 3}, 7}, {{0, 1, 2, 3}, 2}}};
  Objective objective = EveryCell("max-variance");
  objective.weighting = Weighting::kEqual;
  const Plan plan = PlanOf(small, workload, "max-variance");
  const oracle::OptimumBounds optimum =
      oracle::LeastMaxVariance(oracle::WeightedQueries(small, workload), 60);
  const double bound = DenseMaxVarianceBound(small, workload, objective);
  EXPECT_LE(bound, optimum.upper);
  EXPECT_GE(bound, 0.99 * optimum.lower);
  EXPECT_LE(bound, plan.loss);
  // The same workload with larger identities still has a dense bound, and records without end none.
  const Domain large = ParseDomain("4:prefix,6:range,9,10");
  const double large_bound = DenseMaxVarianceBound(large, workload, objective);
  EXPECT_GT(large_bound, 0.97 * LeastLossBound(large, workload, objective));
  EXPECT_LE(large_bound, PlanOf(large, workload, "max-variance").loss);
  const Domain huge = ParseDomain("100:prefix,60:range,9,10");
  EXPECT_EQ(DenseMaxVarianceBound(huge, workload, objective), 0);
}

// Above 160 cells, where weights of answers that are a product lost up to 9 %.
TEST(BoundAndOptimumTest, OfTheLargestVarianceIsNearTheOptimumOfTwoHundredCells) {
  std::mt19937 random(23);
  std::vector<Attribute> attributes = ParseDomain("7,5:prefix,6:prefix").attributes();
  attributes[0].queries = QueryKind::kHierarchy;
  attributes[0].groups = {{"first", {0}}, {"last", {5, 6}}};
  const Domain domain(attributes);
  for (int trial = 0; trial < 2; ++trial) {
    const Workload workload = oracle::RandomWorkload(domain, 2, &random);
    const oracle::OptimumBounds optimum =
        oracle::LeastMaxVariance(oracle::WeightedQueries(domain, workload), 40);
    const double bound = BoundOf(domain, workload, "max-variance");
    EXPECT_LE(bound, optimum.upper) << trial;
    EXPECT_GE(bound, 0.97 * optimum.lower) << trial;
  }
}

TEST(BoundAndOptimumTest, OfRandomWorkloadsIsBelowTheDenseOptimumAndNearIt) {
  std::mt19937 random(20);
  for (int trial = 0; trial < 300; ++trial) {
    const Domain domain = oracle::RandomDomain({}, &random);
    const Workload workload = oracle::RandomWorkload(domain, trial % 4 == 0 ? 8 : 2, &random);
    Objective objective;
    objective.weighting = static_cast<Weighting>(trial % 3);
    Workload weighed = workload;  // as the brute force has it, by answers
    for (WeightedMarginal& table : weighed.marginals) {
      double cells = 1;
      for (const int i : table.attributes) cells *= static_cast<double>(NumAnswers(domain[i]));
      const double power = objective.weighting == Weighting::kCells       ? 0
                           : objective.weighting == Weighting::kSqrtCells ? 0.5
                                                                          : 1;
      table.weight *= std::pow(cells, -power);
    }
    const Eigen::MatrixXd queries = oracle::WeightedQueries(domain, weighed);
    const Eigen::MatrixXd gram = queries.transpose() * queries;
    const oracle::OptimumBounds optimum = oracle::LeastTotalVariance(gram, 80);
    const double bound = LeastLossBound(domain, workload, objective);
    EXPECT_LE(bound, optimum.upper) << trial;
    EXPECT_GE(bound, 0.99 * optimum.lower) << trial;
  }
}

TEST(BoundAndOptimumTest, OfRandomLargestVariancesIsBelowTheDenseOptimumAndNearIt) {
  std::mt19937 random(21);
  for (int trial = 0; trial < 300; ++trial) {
    const Domain domain = oracle::RandomDomain({.custom = false}, &random);
    const Workload workload = oracle::RandomWorkload(domain, trial % 4 == 0 ? 8 : 2, &random);
    const oracle::OptimumBounds optimum =
        oracle::LeastMaxVariance(oracle::WeightedQueries(domain, workload), 150);
    const double bound = BoundOf(domain, workload, "max-variance");
    ASSERT_GE(optimum.upper, optimum.lower) << trial;
    ASSERT_LE(optimum.upper, optimum.lower * 1.01) << trial;
    EXPECT_LE(bound, optimum.upper) << trial;
    EXPECT_GE(bound, 0.97 * optimum.lower) << trial;
    for (const char* objective : {"p-norm=2", "p-norm=7"}) {
      EXPECT_LE(BoundOf(domain, workload, objective), PlanOf(domain, workload, objective).loss)
          << trial;
    }
  }
}

}  // namespace
}  // namespace residua
