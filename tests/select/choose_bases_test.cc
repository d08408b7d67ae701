#include "residua/select/choose_bases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "residua/base/error.h"
#include "residua/select/lower_bound.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/oracle/dense_mechanism.h"
#include "tests/oracle/optimal_mechanism.h"
#include "tests/oracle/random_workload.h"
#include "tests/select/dense_comparison.h"
#include "tests/select/every_cell.h"

namespace residua {
namespace {

using Kind = MarginalRule::Kind;

Domain WithAttribute(const std::string& sizes, Attribute extra) {
  std::vector<Attribute> attributes = ParseDomain(sizes).attributes();
  extra.name = std::to_string(attributes.size());
  attributes.push_back(std::move(extra));
  return Domain(std::move(attributes));
}

Attribute Tree() {
  Attribute attribute;
  attribute.size = 5;
  attribute.queries = QueryKind::kHierarchy;
  attribute.groups = {{"left", {0, 1}}, {"right", {2, 3, 4}}};
  return attribute;
}

// Full column rank, or (with fewer queries than cells) not.
Attribute Custom(unsigned seed, int64_t rows, int64_t cells) {
  std::mt19937 random(seed);
  Attribute attribute;
  attribute.size = cells;
  attribute.queries = QueryKind::kCustom;
  attribute.custom.num_rows = rows + 1;
  for (int64_t k = 0; k < rows * cells; ++k) {
    attribute.custom.entries.push_back(static_cast<double>(random() % 5));
  }
  attribute.custom.entries.insert(attribute.custom.entries.end(), static_cast<size_t>(cells), 1.0);
  return attribute;
}

std::vector<Domain> SmallDomains() {
  return {ParseDomain("6:prefix,6:prefix"),  ParseDomain("5:range,4:prefix"),
          ParseDomain("4:prefix*3"),         ParseDomain("3,5:range,2"),
          WithAttribute("4:prefix", Tree()), WithAttribute("3,3:range", Custom(4, 6, 4))};
}

SelectRequest Request(const Domain& domain, const Workload& workload,
                      const std::string& objective = "sum-variance") {
  return {domain, workload, EveryCell(objective), BudgetFromPcost(1)};
}

TEST(ChooseBasesTest, CostsAndCovariancesAgreeWithDenseMatrices) {
  std::vector<Domain> domains = SmallDomains();
  domains.push_back(WithAttribute("4:prefix", Custom(9, 2, 5)));  // not of full column rank
  Attribute with_strategy = Custom(9, 2, 4);
  with_strategy.strategy = {4, {1, 1, 1, 1, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0}};
  domains.push_back(WithAttribute("3:range,2", with_strategy));
  std::mt19937 random(1);
  for (const Domain& domain : domains) {
    for (const char* objective : {"sum-variance", "max-variance", "p-norm=3"}) {
      for (const BasisKind kind : {BasisKind::kOblique, BasisKind::kOrthogonal}) {
        SelectRequest request = Request(domain, {{{Kind::kUpTo, 2}}, {}}, objective);
        request.basis = kind;
        const Plan plan = Select(request);
        EXPECT_NO_THROW(VerifyPlan(plan));
        EXPECT_LT(plan.relative_gap, 1e-4);
        const Eigen::MatrixXd cost = oracle::PrivacyCostMatrix(plan);
        EXPECT_LE(cost.diagonal().maxCoeff(), plan.pcost.get_d() * (1 + 1e-9));
        EXPECT_NEAR(plan.pcost.get_d(), 1, 1e-8);
        const DenseErrors dense = ExpectDenseCovariances(plan, 3, random);
        const PlanSummary summary = Summarize(plan, PredictErrors(plan));
        EXPECT_EQ(summary.num_answers, dense.num_answers);
        EXPECT_NEAR(summary.rmse / std::sqrt(dense.total_variance / dense.num_answers), 1, 1e-8);
        EXPECT_NEAR(summary.max_variance / dense.max_variance, 1, 1e-8);
      }
    }
  }
}

TEST(ChooseBasesTest, WithinHalfAPercentOfEveryMatrixMechanismAndNeverBelow) {
  for (const Domain& domain : SmallDomains()) {
    for (int64_t order = 1; order <= domain.size(); ++order) {
      for (const Kind kind : {Kind::kExactly, Kind::kUpTo}) {
        const Plan plan = Select(Request(domain, {{{kind, order}}, {}}));
        const Eigen::MatrixXd queries = StackQueries(plan);
        const oracle::OptimumBounds optimum =
            oracle::LeastTotalVariance(queries.transpose() * queries, 300);
        EXPECT_GE(plan.loss, optimum.lower * (1 - 1e-7)) << order;
        EXPECT_LE(plan.loss, optimum.upper * 1.005) << order << " " << domain[0].size;
      }
    }
  }
}

TEST(ChooseBasesTest, WithinOneAndAHalfPercentOfTheLeastMaximum) {
  struct Case {
    const char* domain;
    int64_t order;
  };
  for (const Case& c :
       {Case{"8:prefix*2", 2}, Case{"5:prefix*3", 3}, Case{"5:range,4:prefix", 2}}) {
    const Plan plan =
        Select(Request(ParseDomain(c.domain), {{{Kind::kExactly, c.order}}, {}}, "max-variance"));
    const oracle::OptimumBounds optimum = oracle::LeastMaxVariance(StackQueries(plan), 600);
    EXPECT_GE(plan.loss, optimum.lower * (1 - 1e-9)) << c.domain;
    EXPECT_LE(plan.loss, optimum.upper * 1.015) << c.domain;
  }
  // Brute-force minimax optima over all matrix mechanisms, computed independently of this code.
  const auto loss = [](const char* domain, int64_t order) {
    return Select(Request(ParseDomain(domain), {{{Kind::kExactly, order}}, {}}, "max-variance"))
        .loss;
  };
  EXPECT_LE(loss("8:prefix*2", 1), 3.543 * 1.015);
  EXPECT_LE(loss("5:prefix*3", 1), 3.730 * 1.015);
  EXPECT_LE(loss("5:prefix*3", 2), 6.219 * 1.015);
}

// The bounds of the least maximum of one table multiply over its attributes: nuclear norms do, and
// so do variances and privacy costs.
TEST(ChooseBasesTest, QueriesThatVanishedAtOneTradeOffComeBack) {
  struct Case {
    int64_t size;
    int64_t count;
  };
  for (const Case& c : {Case{3, 2}, Case{4, 2}, Case{4, 3}, Case{5, 3}, Case{6, 2}, Case{6, 3},
                        Case{7, 1}, Case{8, 2}, Case{10, 1}, Case{12, 2}}) {
    Attribute range;
    range.size = c.size;
    range.queries = QueryKind::kRange;
    const oracle::OptimumBounds one = oracle::LeastMaxVariance(oracle::DenseQueries(range), 3000);
    const auto count = static_cast<double>(c.count);
    const std::string domain = std::to_string(c.size) + ":range*" + std::to_string(c.count);
    const double loss =
        Select(Request(ParseDomain(domain), {{{Kind::kExactly, c.count}}, {}}, "max-variance"))
            .loss;
    EXPECT_GE(loss, std::pow(one.lower, count) * (1 - 1e-9)) << domain;
    EXPECT_LE(loss, std::pow(one.upper, count) * 1.004) << domain;
  }
}

Attribute CustomRows(int64_t cells, std::vector<double> entries) {
  Attribute attribute;
  attribute.size = cells;
  attribute.queries = QueryKind::kCustom;
  attribute.custom.num_rows = static_cast<int64_t>(entries.size()) / cells;
  attribute.custom.entries = std::move(entries);
  return attribute;
}

Attribute WeighedTree(int64_t cells, const std::vector<std::vector<int64_t>>& groups,
                      std::vector<double> level_weights) {
  Attribute attribute;
  attribute.size = cells;
  attribute.queries = QueryKind::kHierarchy;
  for (const auto& group : groups) {
    attribute.groups.push_back({"g" + std::to_string(attribute.groups.size()), group});
  }
  attribute.level_weights = std::move(level_weights);
  return attribute;
}

// The attributes' own weights of answers lost 0.3 % to 2.6 % here, all of it without need: other
// residual bases attain the optimum over all mechanisms.
TEST(ChooseBasesTest, WeightsOfTheWholeProblemAttainTheLeastMaximum) {
  struct Case {
    std::vector<Attribute> attributes;
    Workload workload;
  };
  const std::vector<Case> cases = {
      {{CustomRows(6,
                   {1,  1,  1, 1, 1,  1,  -1, 3,  -2, -1, -2, 0,  1, 0,  -2, -1, -2, 0, 3,  2, -1,
                    -1, -2, 1, 1, -2, -1, 0,  -2, 2,  3,  3,  -1, 0, -2, -1, 0,  2,  0, -1, 0, -1}),
        CustomRows(3, {1, 1, 1, 0, 3, 0, 3, -1, 1, 3, 2, 1, -2, 3, 2, 0, 0, 3})},
       {{}, {{{}, 1.9022866}, {{0}, 7.3470479}, {{1}, 6.4856918}, {{0, 1}, 3.6790965}}}},
      {{CustomRows(3, {1, 1, 1, 3, -2, -1, 0, 3, 2, 1, 1, -2}), ParseDomain("6")[0]},
       {{}, {{{}, 1.9398551}, {{0}, 1.4754804}, {{1}, 2.9628325}, {{0, 1}, 2.5877002}}}},
      {{WeighedTree(8, {{4, 5}, {0, 1, 7}, {0, 1, 2, 6, 7}, {0, 1, 2, 6, 7}, {0, 1, 2, 4, 5, 6, 7}},
                    {7.38411, 0.191674, 0.241048, 0.125015, 1.72606})},
       {{}, {{{0}, 1.0}}}},
      {{WeighedTree(7, {{0, 3, 5}, {6}, {0, 2, 3, 4, 5}}, {0.841612, 3.10247, 0.121213})},
       {{}, {{{}, 1.0}, {{0}, 1.0}}}}};
  for (size_t k = 0; k < cases.size(); ++k) {
    std::vector<Attribute> attributes = cases[k].attributes;
    for (size_t i = 0; i < attributes.size(); ++i) attributes[i].name = std::to_string(i);
    const Domain domain(attributes);
    const Plan plan = Select(Request(domain, cases[k].workload, "max-variance"));
    const oracle::OptimumBounds optimum =
        oracle::LeastMaxVariance(oracle::WeightedQueries(domain, cases[k].workload), 600);
    EXPECT_GE(plan.loss, optimum.lower * (1 - 1e-9)) << k;
    EXPECT_LE(plan.loss, optimum.upper * 1.0015) << k;
    EXPECT_NO_THROW(VerifyPlan(plan));
  }
}

// The loss of the tree has a valley at large trade-offs and a deeper one at small ones; the search
// starts between them. The table has too many answers for weights of the whole problem.
TEST(ChooseBasesTest, TheDeeperValleyOfTradeOffsIsFound) {
  const Attribute tree = WeighedTree(3, {{1, 2}}, {1.5849, 1});
  const Domain domain = WithAttribute("70:range", tree);
  const double both = Select(Request(domain, {{}, {{{0, 1}, 1.0}}}, "max-variance")).loss;
  const double range = Select(Request(domain, {{}, {{{0}, 1.0}}}, "max-variance")).loss;
  const Workload alone{{}, {{{0}, 1.0}}};
  std::vector<Attribute> attributes = {tree};
  attributes[0].name = "tree";
  const oracle::OptimumBounds optimum =
      oracle::LeastMaxVariance(oracle::WeightedQueries(Domain(attributes), alone), 600);
  EXPECT_LE(both / range, optimum.upper * 1.01);
}

TEST(ChooseBasesTest, RandomPlansForTheLargestVarianceAreNeverBelowTheOptimum) {
  std::mt19937 random(71);
  double sum = 0;
  constexpr int kTrials = 120;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Domain domain = oracle::RandomDomain({.trees = true}, &random);
    const Workload workload = oracle::RandomWorkload(domain, trial % 3 == 0 ? 8 : 0, &random);
    const Plan plan = Select(Request(domain, workload, "max-variance"));
    const oracle::OptimumBounds optimum =
        oracle::LeastMaxVariance(oracle::WeightedQueries(domain, workload), 200);
    ASSERT_LE(optimum.upper, optimum.lower * 1.01) << trial;
    EXPECT_GE(plan.loss, optimum.lower * (1 - 1e-9)) << trial;
    EXPECT_LE(plan.loss, optimum.upper * 1.12) << trial;
    sum += plan.loss / optimum.upper;
    const auto certificate = CertifyPlan(plan);
    if (!certificate) continue;
    EXPECT_LE(certificate->lower_bound, optimum.upper * (1 + 1e-9)) << trial;
  }
  EXPECT_LE(sum / kTrials, 1.01);
}

TEST(ChooseBasesTest, ObliqueIsNeverWorseThanOrthogonal) {
  for (const char* domain : {"10:prefix*5", "8:range*4,3", "20:prefix,7:range,4"}) {
    for (int64_t order = 1; order <= 3; ++order) {
      SelectRequest request = Request(ParseDomain(domain), {{{Kind::kExactly, order}}, {}});
      const double oblique = Select(request).loss;
      request.basis = BasisKind::kOrthogonal;
      EXPECT_LT(oblique, Select(request).loss * (1 + kRoundingLoss));
    }
  }
}

// Beside the total no query sees the last cell, so that an orthogonal basis costs it nothing.
TEST(ChooseBasesTest, OrthogonalBasesOfQueriesThatLeaveACellOut) {
  Attribute sum;
  sum.size = 5;
  sum.queries = QueryKind::kCustom;
  sum.custom = {3, {1, 1, 1, 1, 1, 0, 0, 0, 0, 0, -1, 1, 1, -1, 0}};
  for (const char* objective : {"sum-variance", "max-variance"}) {
    SelectRequest request =
        Request(WithAttribute("2:prefix", sum), {{{Kind::kUpTo, 2}}, {}}, objective);
    const double oblique = Select(request).loss;
    request.basis = BasisKind::kOrthogonal;
    EXPECT_LE(oblique, Select(request).loss * (1 + kRoundingLoss)) << objective;
  }
}

// Two queries that differ in the seventh digit: a coarse basis cannot tell them apart, a finer can.
TEST(ChooseBasesTest, QueriesThatNearlyDependOnOneAnother) {
  Attribute custom;
  custom.size = 2;
  custom.queries = QueryKind::kCustom;
  custom.custom = {2, {1, 1, 1.0000005, 1}};
  const Plan plan = Select(Request(WithAttribute("3", custom), {{{Kind::kUpTo, 2}}, {}}));
  EXPECT_NO_THROW(VerifyPlan(plan));
  EXPECT_TRUE(std::isfinite(plan.loss));
}

TEST(ChooseBasesTest, AttributesWithTheSameQueriesShareABasisIfNothingIsGained) {
  // The weights split the two prefix attributes into classes of their own.
  const Plan plan =
      Select(Request(ParseDomain("9:prefix*2,9,9:range"), {{}, {{{0, 2}, 1.0}, {{1, 3}, 1.001}}}));
  const std::vector<ResidualMatrix> matrices = MatrixOfAttributes(plan);
  EXPECT_NE(plan.classes.class_of[0], plan.classes.class_of[1]);
  EXPECT_TRUE(std::holds_alternative<SubtractionMatrix>(matrices[2]));
  EXPECT_NE(matrices[0], matrices[3]);
  const Plan alike = Select(Request(ParseDomain("9:prefix*2,9"), {{{Kind::kExactly, 2}}, {}}));
  EXPECT_EQ(MatrixOfAttributes(alike)[0], MatrixOfAttributes(alike)[1]);
}

// Attribute 1 is in the large table only: it wants another trade-off than those of both.
TEST(ChooseBasesTest, EachClassOfAttributesHasItsOwnBasisIfThatGains) {
  const Workload workload{{}, {{{0, 1, 2}, 1.0}, {{0, 2}, 1.0}}};
  SelectRequest request = Request(ParseDomain("10:prefix*3"), workload);
  request.objective.weighting = Weighting::kEqual;
  const Plan plan = Select(request);
  const std::vector<ResidualMatrix> matrices = MatrixOfAttributes(plan);
  EXPECT_EQ(matrices[0], matrices[2]);
  EXPECT_NE(matrices[0], matrices[1]);
  for (const ResidualMatrix& shared : {matrices[0], matrices[1]}) {
    request.matrices.assign(3, shared);
    EXPECT_GT(Select(request).loss, plan.loss * 1.005);
  }
  // Small enough for the optimum over all mechanisms.
  request = Request(ParseDomain("5:prefix*3"), workload);
  const Plan small = Select(request);
  const Eigen::MatrixXd queries = StackQueries(small);
  const oracle::OptimumBounds optimum =
      oracle::LeastTotalVariance(queries.transpose() * queries, 200);
  EXPECT_GE(small.loss, optimum.lower * (1 - 1e-7));
  EXPECT_LE(small.loss, optimum.upper * 1.005);
}

TEST(ChooseBasesTest, GivenMatricesAreUsed) {
  SelectRequest request = Request(ParseDomain("6:prefix,4,6:prefix"), {{{Kind::kUpTo, 2}}, {}});
  const Plan plan = Select(request);
  request.matrices = MatrixOfAttributes(plan);
  EXPECT_EQ(Select(request), plan);
  request.matrices[2] = SubtractionMatrix{};
  EXPECT_THROW(Select(request), Error);
  request.matrices.pop_back();
  EXPECT_THROW(Select(request), Error);
}

TEST(ChooseBasesTest, AChangedBasisIsRefused) {
  const Plan plan = Select(Request(ParseDomain("6:prefix,4"), {{{Kind::kUpTo, 2}}, {}}));
  Plan changed = plan;
  auto& matrix = std::get<IntegerMatrix>(
      changed.bases[static_cast<size_t>(changed.classes.class_of[0])].matrix);
  matrix.entries.back() = 1 << 30;
  EXPECT_THROW(VerifyPlan(changed), Error);
  changed = plan;
  changed.bases.pop_back();
  EXPECT_THROW(VerifyPlan(changed), Error);
}

// Room for tables of many attributes in the 128 bits of a measurement.
TEST(ChooseBasesTest, IntegersStaySmall) {
  const Plan plan = Select(Request(ParseDomain("100:prefix"), {{{Kind::kExactly, 1}}, {}}));
  int64_t largest = 0;
  for (const int64_t entry : std::get<IntegerMatrix>(plan.bases[0].matrix).entries) {
    largest = std::max(largest, std::abs(entry));
  }
  EXPECT_LE(largest, 1 << 13);
}

}  // namespace
}  // namespace residua
