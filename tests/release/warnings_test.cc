#include "residua/release/warnings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "residua/noise/discrete_gaussian.h"
#include "residua/release/expected_errors.h"
#include "residua/release/published_errors.h"
#include "residua/select/mean_errors.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

using WarningKind = ReleaseWarning::Kind;

Plan PlanAt(const Budget& budget, const std::string& domain = "10,2",
            Protection::Neighbours neighbours = Protection::Neighbours::kAddRemove) {
  SelectRequest request{ParseDomain(domain), {ParseMarginalRules("<=2"), {}}, {}, budget};
  request.protection.neighbours = neighbours;
  return Select(request);
}

std::vector<WarningKind> Kinds(const std::vector<ReleaseWarning>& warnings) {
  std::vector<WarningKind> kinds;
  for (const ReleaseWarning& warning : warnings) kinds.push_back(warning.kind);
  return kinds;
}

TEST(WarningsTest, OfAnEpsilonAboveTen) {
  EXPECT_TRUE(WarningsOf(PlanAt(BudgetFromEpsilon(10, 1e-9)), 1000000).empty());
  const auto warnings =
      WarningsOf(PlanAt(BudgetFromEpsilon(ParseRational("10.1", "epsilon"), 1e-9)), std::nullopt);
  ASSERT_EQ(Kinds(warnings), std::vector{WarningKind::kLargeEpsilon});
  EXPECT_NEAR(warnings[0].value, 10.1, 1e-3);
}

TEST(WarningsTest, OfADeltaThatIsNotBelowOneOverTheRows) {
  const Plan plan = PlanAt(BudgetFromEpsilon(1, 0x1p-10));
  EXPECT_EQ(Kinds(WarningsOf(plan, 1024)), std::vector{WarningKind::kLargeDelta});
  EXPECT_TRUE(WarningsOf(plan, 1023).empty());
  EXPECT_TRUE(WarningsOf(plan, std::nullopt).empty());
}

TEST(WarningsTest, OfNoiseAboveMostCounts) {
  const Plan plan = PlanAt(BudgetFromRho(1));
  double cell_std_dev = 0;  // of the table of both, with 20 of the 33 answers
  for (const TableErrors& table : PublishedErrors(plan)) {
    if (table.orbit.size() == 2) cell_std_dev = std::sqrt(table.mean_variance);
  }
  const auto below = static_cast<int64_t>(20 * cell_std_dev);
  const auto warnings = WarningsOf(plan, below);
  ASSERT_EQ(Kinds(warnings), std::vector{WarningKind::kMostlyNoise});
  EXPECT_EQ(warnings[0].value, 20);
  EXPECT_EQ(warnings[0].limit, 33);
  EXPECT_TRUE(WarningsOf(plan, below + 1).empty());
  // Answers of many cells hold many rows.
  EXPECT_EQ(Kinds(WarningsOf(PlanAt(BudgetFromRho(1), "100"), 50)),
            std::vector{WarningKind::kMostlyNoise});
  EXPECT_TRUE(WarningsOf(PlanAt(BudgetFromRho(1), "100:prefix"), 50).empty());
}

// Prefixes of 4 cells hold 1, 2, 3 and 4 quarters of the rows, 5/8 on average; a cell of 10 a tenth.
TEST(ExpectedErrorsTest, CompareNoiseWithEvenlySpreadRows) {
  const Plan plan = PlanAt(BudgetFromRho(1), "10,4:prefix");
  std::vector<double> averages;
  for (const ExpectedErrors& table : ExpectErrors(plan, 80)) {
    averages.push_back(table.average_answer);
    EXPECT_EQ(table.std_dev, std::sqrt(table.errors.mean_variance));
    EXPECT_EQ(table.relative_error(), table.std_dev / table.average_answer);
    EXPECT_EQ(table.is_mostly_noise(), table.std_dev > table.average_answer);
  }
  std::sort(averages.begin(), averages.end());
  ASSERT_EQ(averages.size(), 4u);
  EXPECT_NEAR(averages[0], 5, 1e-12);
  EXPECT_NEAR(averages[1], 8, 1e-12);
  EXPECT_NEAR(averages[2], 50, 1e-12);
  EXPECT_NEAR(averages[3], 80, 1e-12);
  for (const ExpectedErrors& table : ExpectErrors(plan, 1e-3)) EXPECT_TRUE(table.is_mostly_noise());
}

// A row of a table has one count, whatever else it has.
TEST(ExpectedErrorsTest, OfTablesWithMeansAreThoseOfCounts) {
  const Plan plan = PlanAt(BudgetFromRho(1), "100:mean,4");
  double num_answers = 0;
  for (const ExpectedErrors& table : ExpectErrors(plan, 80)) {
    const bool has_four = std::ranges::any_of(table.errors.orbit, [&](int c) {
      return plan.domain[plan.classes.members[static_cast<size_t>(c)].front()].size == 4;
    });
    EXPECT_EQ(table.average_answer, has_four ? 20 : 80);
    EXPECT_EQ(table.errors.num_answers, has_four ? 4 : 1);
    num_answers += table.errors.num_tables * table.errors.num_answers;
  }
  EXPECT_EQ(num_answers, 10);
  const auto warnings = WarningsOf(plan, 1);
  ASSERT_FALSE(warnings.empty());
  EXPECT_EQ(warnings.back().limit, 10);
}

TEST(WarningsTest, OfRowsThatAreLeftOut) {
  ReadReport report;
  report.num_rows_read = 100;
  report.num_rows_dropped = 10;
  EXPECT_TRUE(WarningsOf(report).empty());
  report.num_rows_dropped = 11;
  EXPECT_EQ(WarningsOf(report),
            (std::vector<ReleaseWarning>{{WarningKind::kRowsLeftOut, 11, 100}}));
}

// The total of such a plan has little noise. On whole numbers its discrete Gaussian has less than
// it was asked for; on a finer lattice it has what it was asked for.
TEST(PublishedErrorsTest, AreThoseOfTheNoiseThatIsDrawn) {
  Plan plan = PlanAt(BudgetFromRho(1), "3,4", Protection::Neighbours::kReplaceOne);
  const auto total = plan.mechanisms.Find({});
  ASSERT_TRUE(total);
  const Rational asked = plan.variances[static_cast<size_t>(*total)];
  ASSERT_LT(asked, 1);
  const auto variance_of_total = [](const Plan& of) {
    for (const TableErrors& table : PublishedErrors(of)) {
      if (table.orbit.empty()) return table.max_variance;
    }
    return 0.0;
  };
  EXPECT_NEAR(variance_of_total(plan), asked.get_d(), 1e-12);
  plan.scale_bits.clear();
  EXPECT_NEAR(variance_of_total(plan), DiscreteGaussianVariance(asked), 1e-12);
  EXPECT_LT(variance_of_total(plan), 0.5 * asked.get_d());
}

TEST(PublishedErrorsTest, OfCountsBesideMeansAreThoseOfTheTables) {
  for (const bool null_cell : {false, true}) {
    std::vector<Attribute> attributes = ParseDomain("3,100:mean,4:prefix").attributes();
    attributes[1].encoding.null_cell = null_cell;
    attributes[1].size = null_cell ? 3 : 2;
    const Plan plan =
        Select({Domain(attributes), {ParseMarginalRules("<=3"), {}}, {}, BudgetFromRho(1)});
    const std::vector<TableErrors> counts = CountErrors(plan);
    std::vector<AttributeSet> tables;
    std::vector<const TableErrors*> of_tables;
    double total_variance = 0;
    double num_answers = 0;
    double most_of_sums = 0;
    for (const ListedTable& table : ListTables(plan, counts)) {
      const TableErrors& of = *table.errors;
      total_variance += of.num_answers * of.mean_variance;
      num_answers += of.num_answers;
      if (MeanAttribute(plan.domain, table.attributes) < 0) continue;
      tables.push_back(table.attributes);
      of_tables.push_back(table.errors);
    }
    const std::vector<MeanErrors> means = PredictMeanErrors(plan, tables);
    ASSERT_EQ(means.size(), 4u);
    for (size_t k = 0; k < means.size(); ++k) {
      EXPECT_EQ(of_tables[k]->num_answers, means[k].num_answers);
      EXPECT_NEAR(of_tables[k]->mean_variance, means[k].count_variance, 1e-4);
      EXPECT_GE(of_tables[k]->max_variance, of_tables[k]->mean_variance * (1 - 1e-12));
      most_of_sums = std::max(most_of_sums, means[k].sum_variance);  // from 0 to 99
    }
    const PublishedSummary summary = SummarizePublished(plan);
    EXPECT_EQ(summary.num_answers, num_answers);
    EXPECT_EQ(summary.num_sums, 1 + 3 + 4 + 12);
    EXPECT_NEAR(summary.rms_std_dev, std::sqrt(total_variance / num_answers), 1e-12);
    EXPECT_GE(summary.largest_sum_std_dev, std::sqrt(most_of_sums) / 99 * (1 - 1e-4));
    // What bounds every answer bounds both.
    const PlanSummary all = Summarize(plan, PublishedErrors(plan));
    EXPECT_NEAR(std::sqrt(all.max_variance),
                std::max(summary.largest_std_dev, summary.largest_sum_std_dev), 1e-12);
  }
}

TEST(PublishedErrorsTest, AreAddedUpByOrder) {
  const std::vector<TableErrors> errors = PublishedErrors(PlanAt(BudgetFromRho(1), "3,4,5"));
  const std::vector<OrderErrors> orders = ByOrder(errors);
  ASSERT_EQ(orders.size(), 3u);
  EXPECT_EQ(orders[2].num_attributes, 2u);
  EXPECT_EQ(orders[2].num_tables, 3);
  EXPECT_EQ(orders[2].num_answers, 12 + 15 + 20);
  double sum = 0;
  for (const TableErrors& table : errors) {
    if (table.orbit.size() == 2) sum += table.num_tables * table.num_answers * table.mean_variance;
  }
  EXPECT_DOUBLE_EQ(orders[2].mean_variance, sum / 47);
}

}  // namespace
}  // namespace residua
