#include "residua/release/warnings.h"

#include <gtest/gtest.h>

#include "residua/noise/discrete_gaussian.h"
#include "residua/release/expected_errors.h"
#include "residua/release/published_errors.h"
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
