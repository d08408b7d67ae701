// Weights of the levels of a hierarchy, against dense matrices with scaled rows.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "residua/basis/tree/tree_solver.h"
#include "residua/model/answer_weights.h"
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

// The level of each answer by its definition: one more than the highest of the smaller or earlier
// groups that share a cell with it.
std::vector<size_t> LevelsByDefinition(const Attribute& attribute) {
  const MatrixXd queries = oracle::DenseQueries(attribute);
  std::vector<size_t> levels(static_cast<size_t>(queries.rows()), 0);
  for (int64_t q = attribute.size; q < queries.rows(); ++q) {
    for (int64_t before = 0; before < q; ++before) {
      if (queries.row(q).dot(queries.row(before)) == 0) continue;
      levels[static_cast<size_t>(q)] =
          std::max(levels[static_cast<size_t>(q)], levels[static_cast<size_t>(before)] + 1);
    }
  }
  return levels;
}

struct Levels {
  std::vector<size_t> of_answer;
  std::vector<double> count;
};
Levels LevelsOf(const Attribute& attribute) {
  Levels levels{LevelsByDefinition(attribute), {}};
  for (const size_t level : levels.of_answer) {
    if (levels.count.size() <= level) levels.count.resize(level + 1, 0);
    ++levels.count[level];
  }
  return levels;
}

// Equal weights, or random ones over two orders of magnitude.
template <typename Random>
void PutWeights(Random& random, bool equal, Attribute* attribute) {
  const size_t num_levels = LevelsOf(*attribute).count.size();
  attribute->level_weights.clear();
  for (size_t l = 0; l < num_levels; ++l) {
    attribute->level_weights.push_back(
        equal ? 1 : std::pow(10, static_cast<double>(random() % 200) / 100 - 1));
  }
}

// W with every row times the root of its part of the weighted mean, by the definition in the
// documentation: sum_l w_l (mean over level l) / sum_l w_l.
MatrixXd ScaledQueries(const Attribute& attribute) {
  MatrixXd queries = oracle::DenseQueries(attribute);
  const Levels levels = LevelsOf(attribute);
  double sum = 0;
  for (const double weight : attribute.level_weights) sum += weight;
  for (int64_t q = 0; q < queries.rows(); ++q) {
    const size_t level = levels.of_answer[static_cast<size_t>(q)];
    queries.row(q) *= std::sqrt(attribute.level_weights[level] / sum / levels.count[level]);
  }
  return queries;
}

// The same for the largest variance: every variance times its level's weight over their mean.
MatrixXd ImportantQueries(const Attribute& attribute) {
  MatrixXd queries = oracle::DenseQueries(attribute);
  const Levels levels = LevelsOf(attribute);
  double sum = 0;
  for (const double weight : attribute.level_weights) sum += weight;
  const double mean = sum / static_cast<double>(attribute.level_weights.size());
  for (int64_t q = 0; q < queries.rows(); ++q) {
    queries.row(q) *=
        std::sqrt(attribute.level_weights[levels.of_answer[static_cast<size_t>(q)]] / mean);
  }
  return queries;
}

Plan PlanOf(const Domain& domain, const Workload& workload, std::string_view objective) {
  return Select({domain, workload, ParseObjective(objective), BudgetFromPcost(1)});
}

// Irregular trees: nodes of one child, groups of one cell, equal groups, cells in no group.
TEST(LevelWeightsTest, PlansOfSmallTreesAreNearTheDenseOptimumAndBoundsBelowIt) {
  std::mt19937 random(31);
  int num_compared = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Attribute attribute = RandomTree(3 + static_cast<int64_t>(random() % 12), random);
    PutWeights(random, trial % 3 == 0, &attribute);
    attribute.name = "tree";
    const Domain domain({attribute});
    const double of_total = trial % 2 == 0 ? 1e-6 : 2;
    const Workload workload{{}, {{{}, of_total}, {{0}, 1}}};
    const MatrixXd scaled = ScaledQueries(attribute);
    MatrixXd gram = scaled.transpose() * scaled;
    gram.array() += of_total;
    const oracle::OptimumBounds optimum = oracle::LeastTotalVariance(gram, 400);
    // The brute force may lose its inverse, or not come to its end.
    if (!(optimum.upper >= optimum.lower * (1 - 1e-9) && optimum.upper <= 1.001 * optimum.lower)) {
      continue;
    }
    ++num_compared;
    const Plan plan = PlanOf(domain, workload, "sum-variance");
    EXPECT_GE(plan.loss, optimum.lower * (1 - 1e-9)) << trial;
    EXPECT_LE(plan.loss, 1.01 * optimum.upper) << trial;
    const auto certificate = CertifyPlan(plan);
    ASSERT_TRUE(certificate) << trial;
    EXPECT_LE(certificate->lower_bound, optimum.upper * (1 + 1e-9)) << trial;
    EXPECT_GE(certificate->lower_bound, 0.97 * optimum.lower) << trial;
    // Weights that differ by a factor are the same.
    Attribute doubled = attribute;
    for (double& weight : doubled.level_weights) weight *= 2;
    EXPECT_NEAR(PlanOf(Domain({doubled}), workload, "sum-variance").loss / plan.loss, 1, 1e-9);
  }
  EXPECT_GE(num_compared, 40);
}

// Where each node is measured by itself, as in large trees. These trees are as irregular as can be:
// that family is up to 3.6 % above the optimum on them, 0.34 % on average; for the largest variance
// up to 8.7 %.
TEST(LevelWeightsTest, TheTreeSolverIsNearTheDenseOptimum) {
  std::mt19937 random(32);
  int num_compared = 0;
  int num_max = 0;
  double sum_of_ratios = 0;
  for (int trial = 0; trial < 90; ++trial) {
    Attribute attribute = RandomTree(4 + static_cast<int64_t>(random() % 14), random);
    PutWeights(random, trial % 3 == 0, &attribute);
    const auto tree = std::make_shared<const CellTree>(*GroupTree(attribute));
    const bool max = trial % 2 == 1;
    TreeSolver solver(attribute, tree, max ? StrategyGoal::kMax : StrategyGoal::kMean);
    const Strategy strategy = solver.Solve(0, 1e-5, 400);
    const double c = 1 - strategy.privacy_cost;
    const MatrixXd scaled = ScaledQueries(attribute);
    if (!max) {
      const oracle::OptimumBounds optimum =
          oracle::LeastTotalVariance(scaled.transpose() * scaled, 400);
      if (!(optimum.upper >= optimum.lower * (1 - 1e-9) && optimum.upper <= 1.001 * optimum.lower))
        continue;
      ++num_compared;
      const double loss = strategy.constant_mean / c + strategy.residual_mean;
      EXPECT_GE(loss, optimum.lower * (1 - 1e-9)) << trial;
      EXPECT_LE(loss, 1.04 * optimum.upper) << trial;
      sum_of_ratios += loss / optimum.upper;
      continue;
    }
    const oracle::OptimumBounds optimum =
        oracle::LeastMaxVariance(ImportantQueries(attribute), 400);
    ASSERT_LE(optimum.upper, 1.02 * optimum.lower) << trial;
    ++num_max;
    const double largest = (strategy.residual_variance + strategy.constant_variance / c).maxCoeff();
    EXPECT_GE(largest, optimum.lower * (1 - 1e-9)) << trial;
    EXPECT_LE(largest, 1.09 * optimum.upper) << trial;
    // What the bound takes from it: weights over importance of sum 1.
    double sum = 0;
    const AnswerWeights weights = WeighAnswers(attribute);
    std::vector<double> importance(static_cast<size_t>(solver.weights().size()), 0);
    for (int64_t cell = 0; cell < attribute.size; ++cell) {
      importance[static_cast<size_t>(cell)] = weights.importance[static_cast<size_t>(cell)];
    }
    size_t answer = static_cast<size_t>(attribute.size);
    for (const int64_t vertex : VerticesOfGroups(attribute, *tree)) {
      double& of = importance[static_cast<size_t>(vertex)];
      of = std::max(of, weights.importance[answer++]);
    }
    for (size_t v = 0; v < importance.size(); ++v) {
      if (importance[v] > 0) sum += solver.weights()(static_cast<int64_t>(v)) / importance[v];
    }
    EXPECT_NEAR(sum, 1, 1e-9) << trial;
  }
  EXPECT_GE(num_compared, 30);
  EXPECT_LE(sum_of_ratios / num_compared, 1.005);
  EXPECT_EQ(num_max, 45);
}

// More than 128 cells: few blocks of equal cells, and groups that tell all cells apart.
TEST(LevelWeightsTest, QuotientsAndLargeTreesAreNearTheDenseOptimum) {
  std::mt19937 random(33);
  for (int trial = 0; trial < 4; ++trial) {
    Attribute attribute;
    if (trial % 2 == 0) {
      attribute = TwoLevels({1, 30, 2, 60, 5, 9, 25}, 1);
      CellGroup upper{"upper", {}};
      for (int64_t cell = 0; cell < 93; ++cell) upper.cells.push_back(cell);
      attribute.groups.push_back(upper);
    } else {
      attribute = RandomTree(130, random);
      for (int64_t cell = 1; cell < attribute.size; ++cell) {
        attribute.groups.push_back({"only" + std::to_string(cell), {cell}});
      }
    }
    attribute.name = "tree";
    PutWeights(random, trial < 2, &attribute);
    ASSERT_EQ(TreeFor(attribute)->kind,
              trial % 2 == 0 ? CellTree::Kind::kBlocks : CellTree::Kind::kGroups);
    const Domain domain({attribute});
    const Workload workload{{}, {{{}, 1}, {{0}, 1}}};
    const MatrixXd scaled = ScaledQueries(attribute);
    MatrixXd gram = scaled.transpose() * scaled;
    gram.array() += 1;
    const oracle::OptimumBounds optimum = oracle::LeastTotalVariance(gram, 60);
    const Plan plan = PlanOf(domain, workload, "sum-variance");
    EXPECT_GE(plan.loss, optimum.lower * (1 - 1e-9)) << trial;
    // Blocks are the dense problem. A tree that is as irregular as can be is the worst case.
    EXPECT_LE(plan.loss, (trial % 2 == 0 ? 1.0005 : 1.02) * optimum.upper) << trial;
    const auto certificate = CertifyPlan(plan);
    ASSERT_TRUE(certificate) << trial;
    EXPECT_LE(certificate->lower_bound, optimum.upper * (1 + 1e-9)) << trial;
    EXPECT_GE(certificate->lower_bound, 0.998 * optimum.lower) << trial;
    EXPECT_LE(certificate->above_lower_bound, trial % 2 == 0 ? 0.001 : 0.02) << trial;
  }
}

TEST(LevelWeightsTest, TheLargestVarianceIsThatTimesTheImportance) {
  std::mt19937 random(34);
  for (int trial = 0; trial < 12; ++trial) {
    Attribute attribute = RandomTree(3 + static_cast<int64_t>(random() % 7), random);
    PutWeights(random, trial % 3 == 0, &attribute);
    attribute.name = "tree";
    const Workload workload{{}, {{{0}, 1}}};
    const oracle::OptimumBounds optimum =
        oracle::LeastMaxVariance(ImportantQueries(attribute), 800);
    ASSERT_LE(optimum.upper, 1.01 * optimum.lower) << trial;
    const Plan plan = PlanOf(Domain({attribute}), workload, "max-variance");
    EXPECT_GE(plan.loss, optimum.lower * (1 - 1e-9)) << trial;
    EXPECT_LE(plan.loss, 1.003 * optimum.upper) << trial;
    const auto certificate = CertifyPlan(plan);
    ASSERT_TRUE(certificate) << trial;
    EXPECT_LE(certificate->lower_bound, optimum.upper * (1 + 1e-9)) << trial;
    // Equal weights are none.
    if (trial % 3 != 0) continue;
    Attribute bare = attribute;
    bare.level_weights.clear();
    EXPECT_NEAR(PlanOf(Domain({bare}), workload, "max-variance").loss / plan.loss, 1, 1e-3);
  }
}

// A budget divided equally among the levels gives every answer as much variance as there are
// levels, at privacy cost 1, where no level has a cell twice. Equal weights must do better.
TEST(LevelWeightsTest, EqualWeightsAreNotWorseThanEqualBudgets) {
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{3, 4, 5}, {1, 1, 40}, {20, 20, 20, 20, 20, 20, 20, 20}}) {
    Attribute attribute = TwoLevels(sizes);
    CellGroup all{"all", {}};
    for (int64_t cell = 0; cell < attribute.size; ++cell) all.cells.push_back(cell);
    attribute.groups.push_back(all);
    attribute.name = "place";
    attribute.level_weights = {1, 1, 1};
    const Plan plan = PlanOf(Domain({attribute}), {{}, {{{0}, 1}}}, "sum-variance");
    EXPECT_LT(plan.loss, 3);
  }
}

// Every variance is that of AnswerCovariance, whatever counts in the objective.
TEST(LevelWeightsTest, ErrorsAreThoseOfTheRealAnswersByLevel) {
  std::mt19937 random(35);
  for (int trial = 0; trial < 6; ++trial) {
    Attribute tree = RandomTree(5 + static_cast<int64_t>(random() % 4), random);
    tree.name = "tree";
    if (trial % 3 > 0) PutWeights(random, trial % 2 == 0, &tree);
    Attribute same = tree;
    same.name = "same";
    std::vector<Attribute> attributes = ParseDomain("3:prefix,2").attributes();
    attributes.push_back(tree);
    if (trial >= 3) attributes.push_back(same);
    const Plan plan =
        PlanOf(Domain(attributes), {{{MarginalRule::Kind::kUpTo, 3}}, {}}, "sum-variance");
    const std::vector<TableErrors> errors = PredictErrors(plan);
    double loss = 0;
    for (const ListedTable& table : ListTables(plan, errors)) {
      // Sums by attribute of the table and level.
      std::map<std::pair<int, size_t>, std::array<double, 3>> by_level;
      std::vector<Levels> levels;
      std::vector<AnswerWeights> weights;
      int64_t num_answers = 1;
      for (const int i : table.attributes) {
        num_answers *= NumAnswers(plan.domain[i]);
        weights.push_back(WeighAnswers(plan.domain[i]));
        const bool is_tree = plan.domain[i].queries == QueryKind::kHierarchy;
        levels.push_back(is_tree ? LevelsOf(plan.domain[i]) : Levels{});
      }
      double mean = 0;
      double weighted = 0;
      double largest = 0;
      for (int64_t answer = 0; answer < num_answers; ++answer) {
        std::vector<int64_t> place(table.attributes.size());
        int64_t left = answer;
        double share = 1;
        for (size_t k = 0; k < place.size(); ++k) {
          const int64_t size = NumAnswers(plan.domain[table.attributes[k]]);
          place[k] = left % size;
          left /= size;
          share *= weights[k].share[static_cast<size_t>(place[k])];
        }
        const double variance = AnswerCovariance(plan, table.attributes, place, place);
        mean += variance / static_cast<double>(num_answers);
        weighted += share * variance;
        largest = std::max(largest, variance);
        for (size_t k = 0; k < place.size(); ++k) {
          if (levels[k].count.empty()) continue;
          const size_t level = levels[k].of_answer[static_cast<size_t>(place[k])];
          auto& sums = by_level[{table.attributes[k], level}];
          sums[0] += 1;
          sums[1] += variance;
          sums[2] = std::max(sums[2], variance);
        }
      }
      const TableErrors& of = *table.errors;
      EXPECT_NEAR(of.mean_variance / mean, 1, 1e-9);
      EXPECT_NEAR(of.weighted_variance / weighted, 1, 1e-9);
      EXPECT_NEAR(of.max_variance / largest, 1, 1e-9);
      EXPECT_GT(of.weighted_alone_variance, 0);
      loss += weighted;
      size_t num_found = 0;
      for (const LevelErrors& level : of.levels) {
        for (const int i : table.attributes) {
          if (plan.classes.class_of[static_cast<size_t>(i)] != level.attribute_class) continue;
          ++num_found;
          const auto& sums = by_level.at({i, static_cast<size_t>(level.level)});
          EXPECT_EQ(level.num_answers, sums[0]);
          EXPECT_NEAR(level.mean_variance / (sums[1] / sums[0]), 1, 1e-9);
          EXPECT_NEAR(level.max_variance / sums[2], 1, 1e-9);
        }
      }
      EXPECT_EQ(num_found, by_level.size());
    }
    EXPECT_NEAR(plan.loss / loss, 1, 1e-9);
  }
}

TEST(LevelWeightsTest, WeightsThatCannotBePlannedForAreRefused) {
  Attribute attribute = TwoLevels({2, 3});
  attribute.name = "place";
  for (const std::vector<double>& bad : {std::vector<double>{1},
                                         {1, 1, 1},
                                         {1, 0},
                                         {1, -1},
                                         {1, NAN},
                                         {INFINITY, 1},
                                         {1e-7, 1},
                                         {1, 2e3}}) {
    attribute.level_weights = bad;
    EXPECT_THROW(PlanOf(Domain({attribute}), {{}, {{{0}, 1}}}, "sum-variance"), Error);
  }
  attribute.level_weights = {1, 2};
  const Workload workload{{}, {{{0}, 1}}};
  EXPECT_THROW(Select({Domain({attribute}), workload, ParseObjective("max-variance"),
                       LossTarget{2, kDefaultDelta}}),
               Error);
  attribute.level_weights = {2, 2};
  const Plan bounded = Select({Domain({attribute}), workload, ParseObjective("max-variance"),
                               LossTarget{2, kDefaultDelta}});
  EXPECT_LE(PredictErrors(bounded).front().max_variance, 2 * (1 + 1e-9));
  for (const std::vector<double>& extreme : {std::vector<double>{1e-3, 1e3}, {1e3, 1e-3}}) {
    attribute.level_weights = extreme;
    for (const char* objective : {"sum-variance", "max-variance", "p-norm=3"}) {
      const Plan plan = PlanOf(Domain({attribute}), {{}, {{{0}, 1}}}, objective);
      VerifyPlan(plan);
      const auto certificate = CertifyPlan(plan);
      if (!certificate) continue;
      EXPECT_GE(certificate->above_lower_bound, -1e-9) << objective;
    }
  }
}

}  // namespace
}  // namespace residua
