#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "residua/reconstruct/mean_estimate.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/simultaneous.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/select/lower_bound.h"
#include "residua/select/mean_errors.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/question_text.h"
#include "tests/means/dense_fit.h"
#include "tests/means/mean_coverage.h"
#include "tests/means/number_rows.h"
#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

Plan PlanOf(const Domain& domain, const Rational& rho, int64_t order) {
  SelectRequest request;
  request.domain = domain;
  request.workload.rules = {{MarginalRule::Kind::kUpTo, order}};
  request.target = BudgetFromRho(rho);
  return Select(request);
}

TEST(MeanEstimateTest, EqualsTheDenseLeastSquaresSolution) {
  std::mt19937_64 random(17);
  int num_tables = 0;
  for (int round = 0; round < 12; ++round) {
    const bool null_cell = round % 2 == 0;
    const MeanEncoding numbers =
        round % 3 == 0 ? MakeMeanEncoding(Rational(-3, 2), Rational(7, 2), Rational(1, 4))
                       : Whole(-60 + 500 * (round % 4), 40 + 700 * (round % 4));
    std::vector<Attribute> attributes = {OfCells("a", 2 + round % 2),
                                         Averaged("m", numbers, null_cell),
                                         OfCells("p", 3 + round % 3, QueryKind::kPrefix)};
    // Sometimes a second number, and the first at another place.
    if (round % 2 == 1) attributes.push_back(Averaged("w", Whole(0, 7), true));
    if (round % 3 == 1) std::swap(attributes[0], attributes[1]);
    const Domain domain(attributes);
    const Plan plan = PlanOf(domain, Rational(1, 4), 2 + round % 2);
    DeterministicBits bits(static_cast<uint64_t>(round));
    const std::vector<NoisyResidual> residuals =
        MeasuredWith(plan, Encoded(domain, RandomRows(domain, 400, random)), bits);
    const ResidualIndex index = IndexResiduals(plan, residuals);
    const DenseFit fit({{plan, residuals}});
    for (const AttributeSet& table : MeasuredSets(plan)) {
      const int mean = MeanAttribute(domain, table);
      if (mean < 0) continue;
      ++num_tables;
      ExpectDenseMeans(fit, table, ColumnsOf(plan, index, table));
    }
  }
  EXPECT_GT(num_tables, 30);
}

// Questions are answered as tables are.
TEST(MeanEstimateTest, QuestionsAgreeWithTables) {
  const Domain domain({OfCells("a", 3), Averaged("m", Whole(-60, 600), true)});
  const Plan plan = PlanOf(domain, Rational(1, 2), 2);
  std::mt19937_64 random(3);
  DeterministicBits bits(3);
  const auto residuals =
      MeasuredWith(plan, Encoded(domain, RandomRows(domain, 2000, random)), bits);
  const ResidualIndex index = IndexResiduals(plan, residuals);
  const MeanColumns columns = ColumnsOf(plan, index, {0, 1});
  for (size_t k = 0; k < 3; ++k) {
    const std::string of_cell = " a=" + std::to_string(k);
    const Estimate sum = Answer(index, ParseQuestion("sum(m)" + of_cell, domain));
    EXPECT_NEAR(sum.value, columns.sums[k], 1e-7 * std::abs(sum.value));
    EXPECT_NEAR(std::sqrt(sum.variance), columns.sum_std_devs[k], 1e-7 * columns.sum_std_devs[k]);
    const auto mean = std::get<MeanQuestion>(ParseAnyQuestion("mean(m)" + of_cell, domain));
    EXPECT_NEAR(Answer(index, mean.count).value, columns.counts[k], 1e-7);
    const auto found = EstimateMean({-60, 600}, Answer(index, mean.sum), Answer(index, mean.count),
                                    Covariance(index, mean.sum, mean.count), kQuantile);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->value, columns.means[k], 1e-7 * std::abs(found->value));
    EXPECT_NEAR(found->interval.upper, columns.mean_upper[k],
                1e-6 * std::abs(found->interval.upper));
    // Rows with and without a number are all rows.
    const double missing = Answer(index, ParseQuestion("m=null" + of_cell, domain)).value;
    EXPECT_NEAR(missing + columns.counts[k], Answer(index, ParseQuestion(of_cell, domain)).value,
                1e-7);
  }
}

// Released over and over: sums and means are centred, and intervals cover as often as they say,
// Fieller's of small counts too. A standard deviation 10 % too small is told from the right one.
TEST(MeanEstimateTest, RepeatedReleasesAreCentredAndCovered) {
  constexpr int kNumReleases = 2000;
  const Domain domain({OfCells("a", 3), Averaged("m", Whole(-60, 600), true)});
  const Plan plan = PlanOf(domain, Rational(1, 4), 2);
  // Many rows in cell 0, few in cell 1, which are not enough for a mean, and some in cell 2.
  std::vector<Row> rows;
  std::mt19937_64 random(8);
  for (const auto& [cell, count] : std::map<int64_t, int>{{0, 3000}, {1, 6}, {2, 40}}) {
    for (int k = 0; k < count; ++k) {
      const auto code = static_cast<int64_t>(random() % 200);
      rows.push_back({cell, k % 9 == 0 ? -1 : code});
    }
  }
  const EncodedTable table = Encoded(domain, rows);
  DeterministicBits bits(9);
  MeanCoverage coverage(domain, rows);
  for (int r = 0; r < kNumReleases; ++r) {
    const auto residuals = MeasuredWith(plan, table, bits);
    coverage.Add(ColumnsOf(plan, IndexResiduals(plan, residuals), {0, 1}));
  }
  ExpectCentredAndCovered(coverage);
}

constexpr Interval kAnywhere{-std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::infinity()};

TEST(MeanEstimateTest, TooFewRowsHaveNoMean) {
  EXPECT_FALSE(EstimateMean(kAnywhere, {10, 1}, {1.9, 1}, 0, 1.96));
  EXPECT_TRUE(EstimateMean(kAnywhere, {10, 1}, {2.0, 1}, 0, 1.96));
  EXPECT_FALSE(EstimateMean(kAnywhere, {10, 1}, {-50, 1}, 0, 1.96)) << "negative is no count";
  EXPECT_FALSE(EstimateMean(kAnywhere, {10, 1}, {std::nan(""), 1}, 0, 1.96));
  EXPECT_FALSE(EstimateMean({0, 5}, {std::nan(""), 1}, {50, 1}, 0, 1.96));
  const auto mean = EstimateMean(kAnywhere, {300, 4}, {100, 1}, 1, 2);
  ASSERT_TRUE(mean);
  EXPECT_DOUBLE_EQ(mean->value, 3);
  EXPECT_DOUBLE_EQ(mean->variance, (4 - 6 + 9) / 1e4);
  EXPECT_LT(mean->interval.lower, 3);
  EXPECT_GT(mean->interval.upper, 3);
}

TEST(MeanEstimateTest, MeansAreInTheirRange) {
  const Estimate count{100, 1};
  const auto at = [&](double sum, double std_dev, const Interval& range) {
    return EstimateMean(range, {sum, std_dev * std_dev}, count, 0, 2);
  };
  const Interval fieller = at(300, 200, kAnywhere)->interval;
  EXPECT_NEAR(fieller.lower, -1, 0.01);
  EXPECT_NEAR(fieller.upper, 7, 0.01);
  // The part of it that is in the range.
  const auto cut = at(300, 200, {0, 9});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->interval.lower, 0);
  EXPECT_EQ(cut->interval.upper, fieller.upper);
  EXPECT_EQ(cut->value, 3);
  // All of the range is in it: nothing was learned. One end a little further, and something was.
  EXPECT_FALSE(at(300, 200, {0, 6.9}));
  EXPECT_FALSE(at(300, 200, {-0.9, 6.9}));
  EXPECT_TRUE(at(300, 200, {-1.1, 6.9}));
  // The nearest number of the range, where noise has moved the ratio out of it.
  const auto outside = at(-50, 200, {0, 9});
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->value, 0);
  EXPECT_EQ(outside->ratio, -0.5);
  EXPECT_EQ(outside->interval.lower, 0);
  EXPECT_NEAR(outside->interval.upper, 3.5, 0.01);
  // No part of it is in the range: as wide as before, from the end on, and never without a width.
  for (const double sign : {-1.0, 1.0}) {
    const auto beyond = at(sign * 2000, 200, {-9, 9});
    ASSERT_TRUE(beyond);
    EXPECT_EQ(beyond->value, sign * 9);
    const auto [low, high] = beyond->interval;
    EXPECT_EQ(sign > 0 ? high : -low, 9);
    const Interval whole = at(sign * 2000, 200, kAnywhere)->interval;
    EXPECT_NEAR(high - low, whole.upper - whole.lower, 1e-12);
  }
}

// Near an end of the range, where intervals are cut and ratios fall outside, they cover as often as
// Fieller's do, and the estimate is nearer to the truth than the ratio.
TEST(MeanEstimateTest, IntervalsWithinTheRangeCover) {
  constexpr int kNumReleases = 2000;
  const Domain domain({OfCells("a", 3), Averaged("m", Whole(0, 100), false)});
  const Plan plan = PlanOf(domain, Rational(1, 4), 2);
  // All at the low end; a few above it; and the high end.
  std::vector<Row> rows;
  for (int k = 0; k < 200; ++k) {
    rows.push_back({0, 0});
    rows.push_back({1, k % 20 == 0 ? 30 : 0});
    rows.push_back({2, 100});
  }
  const std::vector<double> true_means = {0, 1.5, 100};
  const EncodedTable table = Encoded(domain, rows);
  DeterministicBits bits(21);
  std::vector<int> covered(3), fieller_covered(3), cut(3), beyond(3);
  std::vector<double> off(3), fieller_off(3);
  for (int r = 0; r < kNumReleases; ++r) {
    const auto residuals = MeasuredWith(plan, table, bits);
    const ResidualIndex index = IndexResiduals(plan, residuals);
    const MeanColumns columns = ColumnsOf(plan, index, {0, 1});
    for (size_t k = 0; k < 3; ++k) {
      ASSERT_FALSE(std::isnan(columns.means[k]));
      const double mean = true_means[k];
      covered[k] += columns.mean_lower[k] <= mean && mean <= columns.mean_upper[k] ? 1 : 0;
      const auto question =
          std::get<MeanQuestion>(ParseAnyQuestion("mean(m) a=" + std::to_string(k), domain));
      const auto fieller =
          EstimateMean(kAnywhere, Answer(index, question.sum), Answer(index, question.count),
                       Covariance(index, question.sum, question.count), kQuantile);
      const auto [low, high] = fieller->interval;
      fieller_covered[k] += low <= mean && mean <= high ? 1 : 0;
      cut[k] += low < 0 || high > 100 ? 1 : 0;
      beyond[k] += high < 0 || low > 100 ? 1 : 0;
      EXPECT_LT(columns.mean_lower[k], columns.mean_upper[k]);
      off[k] += std::abs(columns.means[k] - mean);
      fieller_off[k] += std::abs(fieller->ratio - mean);
      EXPECT_LE(std::abs(columns.means[k] - mean), std::abs(fieller->ratio - mean) + 1e-12);
    }
  }
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_TRUE(Fits(fieller_covered[k], kNumReleases, 0.95)) << k << ": " << fieller_covered[k];
    // Those that lie beyond the range by chance hold its end, too, which Fieller's do not.
    EXPECT_GE(covered[k], fieller_covered[k]);
    EXPECT_GT(cut[k], kNumReleases / 2) << k << ": the case is tried";
    EXPECT_LT(off[k], fieller_off[k]);
  }
  for (const size_t k : {size_t{0}, size_t{2}}) {
    EXPECT_GT(beyond[k], 0) << "the case is tried";
    EXPECT_EQ(covered[k], fieller_covered[k] + beyond[k]);
    EXPECT_TRUE(Fits(covered[k], kNumReleases, 0.975)) << covered[k];
  }
}

// Answers that subtract rows are no means of rows: their ratios can be any number.
TEST(MeanEstimateTest, DifferencesOfRowsHaveNoRange) {
  Attribute side = OfCells("side", 2, QueryKind::kCustom);
  side.custom = {2, {1, 1, 1, -1}};
  const Domain domain({side, Averaged("m", Whole(0, 10), false)});
  const Plan plan = PlanOf(domain, Rational(20), 2);
  // 3000 rows of 2 and 1000 of 10: of the differences, (6000 - 10000) / (3000 - 1000) = -2.
  std::vector<Row> rows(3000, {0, 2});
  rows.insert(rows.end(), 1000, {1, 10});
  DeterministicBits bits(2);
  const auto residuals = MeasuredWith(plan, Encoded(domain, rows), bits);
  const ResidualIndex index = IndexResiduals(plan, residuals);
  const MeanColumns columns = ColumnsOf(plan, index, {0, 1});
  EXPECT_NEAR(columns.means[0], 4, 0.1);
  EXPECT_NEAR(columns.means[1], -2, 0.1);
  EXPECT_LT(columns.mean_lower[1], -2);
  const auto sum_of = [&](std::vector<double> weights) {
    return ProductQuery(domain, {{0, std::move(weights)}, {1, std::vector<double>{0, 10}}});
  };
  EXPECT_EQ(RangeOfMean(domain, sum_of({1, 0.5})).lower, 0);
  EXPECT_EQ(RangeOfMean(domain, sum_of({1, 0.5})).upper, 10);
  EXPECT_EQ(RangeOfMean(domain, sum_of({1, -1})).lower, kAnywhere.lower);
}

// What is predicted before anything is measured is what the tables then state.
TEST(MeanEstimateTest, PredictedErrorsAreThoseOfTheTables) {
  std::mt19937_64 random(11);
  for (const bool null_cell : {false, true}) {
    const Domain domain({OfCells("a", 3), Averaged("m", Whole(-60, 600), null_cell),
                         OfCells("p", 5, QueryKind::kPrefix)});
    const Plan plan = PlanOf(domain, Rational(1, 2), 3);
    DeterministicBits bits(11);
    const auto residuals =
        MeasuredWith(plan, Encoded(domain, RandomRows(domain, 900, random)), bits);
    const ResidualIndex index = IndexResiduals(plan, residuals);
    const std::vector<AttributeSet> tables = {{1}, {0}, {0, 1}, {1, 2}, {0, 1, 2}};
    const std::vector<MeanErrors> errors = PredictMeanErrors(plan, tables);
    ASSERT_EQ(errors.size(), 4u) << "one table has no mean";
    for (const MeanErrors& of : errors) {
      EXPECT_EQ(of.attribute, 1);
      const MeanColumns columns = ColumnsOf(plan, index, of.table);
      const auto n = static_cast<double>(columns.counts.size());
      EXPECT_EQ(of.num_answers, n);
      double counts = 0, sums = 0;
      for (size_t k = 0; k < columns.counts.size(); ++k) {
        counts += columns.count_std_devs[k] * columns.count_std_devs[k] / n;
        sums += columns.sum_std_devs[k] * columns.sum_std_devs[k] / n;
        if (std::isnan(columns.means[k])) continue;
        // On the table's whole, and not of each answer, whose variances differ.
        if (of.table.size() > 1 && of.table.back() == 2) continue;
        EXPECT_LE(columns.mean_std_devs[k], std::sqrt(of.most_variance) / columns.counts[k]);
        EXPECT_GE(columns.mean_std_devs[k], 0.6 * std::sqrt(of.most_variance) / columns.counts[k]);
      }
      EXPECT_NEAR(of.count_variance, counts, 1e-4 * counts);
      EXPECT_NEAR(of.sum_variance, sums, 1e-4 * sums);
    }
  }
}

// Counts add up two cells, and a target for the largest variance is one for them too.
TEST(MeanEstimateTest, TheLargestVarianceIsThatOfAllThatIsPublished) {
  constexpr double kMostVariance = 25;
  std::mt19937_64 random(12);
  for (const bool null_cell : {false, true}) {
    for (const bool alone : {false, true}) {
      const Domain domain({OfCells("a", 3), Averaged("m", Whole(0, 600), null_cell),
                           OfCells("p", 5, QueryKind::kPrefix)});
      SelectRequest request;
      request.domain = domain;
      request.workload =
          alone ? Workload{{}, {{{1}}}} : Workload{{{MarginalRule::Kind::kUpTo, 3}}, {}};
      request.objective = {Objective::Kind::kMaxVariance, Weighting::kEqual};
      request.target = LossTarget{kMostVariance};
      const Plan plan = Select(request);
      DeterministicBits bits(12);
      const auto residuals =
          MeasuredWith(plan, Encoded(domain, RandomRows(domain, 900, random)), bits);
      const ResidualIndex index = IndexResiduals(plan, residuals);
      const std::vector<TableErrors> errors = PredictErrors(plan);
      double largest = 0;
      for (const ListedTable& table : ListTables(plan, errors)) {
        if (MeanAttribute(domain, table.attributes) < 0) continue;
        const MeanColumns columns = ColumnsOf(plan, index, table.attributes);
        for (size_t k = 0; k < columns.counts.size(); ++k) {
          const double count = columns.count_std_devs[k] * columns.count_std_devs[k];
          const double sum = std::pow(columns.sum_std_devs[k] / 600, 2);
          EXPECT_LE(count, table.errors->max_variance * (1 + 1e-4));
          EXPECT_LE(sum, table.errors->max_variance * (1 + 1e-4));
          largest = std::max({largest, count, sum});
        }
      }
      EXPECT_LE(largest, kMostVariance * (1 + 1e-4));
      if (alone) {
        EXPECT_GE(largest, kMostVariance * (1 - 1e-4));
      }
      EXPECT_LE(plan.loss, kMostVariance);
      const auto certificate = CertifyPlan(plan);
      ASSERT_TRUE(certificate);
      EXPECT_GE(certificate->above_lower_bound, -1e-9);
      // Of three cells the basis does not tell those of the count from that of missing values.
      EXPECT_LE(certificate->above_lower_bound, null_cell ? 0.35 : alone ? 1e-4 : 0.05);
    }
  }
}

// All counts, sums and means of a table at once, as often as is said, or more: the factor is for
// normal errors of any covariance.
TEST(MeanEstimateTest, SimultaneousIntervalsCoverAllAtOnce) {
  constexpr int kNumReleases = 1000;
  constexpr double kConfidence = 0.9;
  const Domain domain({OfCells("a", 4), Averaged("m", Whole(0, 100), false)});
  const Plan plan = PlanOf(domain, Rational(1, 4), 2);
  std::vector<Row> rows;
  std::vector<double> counts(4), sums(4);
  for (int k = 0; k < 1200; ++k) {
    rows.push_back({k % 4, k % 101});
    ++counts[static_cast<size_t>(k % 4)];
    sums[static_cast<size_t>(k % 4)] += k % 101;
  }
  const EncodedTable table = Encoded(domain, rows);
  const std::vector<AttributeSet> tables = {{0, 1}};
  const double factor =
      SimultaneousFactor(plan, tables, AxesOf(plan, AnswerKind::kPlanned), kConfidence);
  DeterministicBits bits(31);
  int all_covered = 0;
  int one_by_one = 0;
  for (int r = 0; r < kNumReleases; ++r) {
    const auto residuals = MeasuredWith(plan, table, bits);
    const ResidualIndex index = IndexResiduals(plan, residuals);
    const auto all_within = [&](double quantile) {
      const MeanColumns columns =
          MeanColumnsOf(plan, index, tables[0], AxesOf(plan, AnswerKind::kPlanned),
                        Reconstruct(index, tables[0]), quantile);
      for (size_t k = 0; k < 4; ++k) {
        const double mean = sums[k] / counts[k];
        if (std::abs(columns.counts[k] - counts[k]) > quantile * columns.count_std_devs[k] ||
            std::abs(columns.sums[k] - sums[k]) > quantile * columns.sum_std_devs[k] ||
            !(columns.mean_lower[k] <= mean && mean <= columns.mean_upper[k])) {
          return false;
        }
      }
      return true;
    };
    all_covered += all_within(factor) ? 1 : 0;
    one_by_one += all_within(TwoSidedQuantile(kConfidence)) ? 1 : 0;
  }
  EXPECT_GE(all_covered, kConfidence * kNumReleases - 3.9 * std::sqrt(0.09 * kNumReleases));
  EXPECT_LT(one_by_one, 0.8 * kNumReleases) << "intervals of single answers do not";
}

}  // namespace
}  // namespace residua
