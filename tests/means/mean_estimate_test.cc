#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <unsupported/Eigen/KroneckerProduct>

#include "residua/measure/measure_with_bits.h"
#include "residua/reconstruct/mean_estimate.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_reconstruction.h"
#include "residua/select/select.h"
#include "residua/text/question_text.h"
#include "tests/means/number_rows.h"
#include "tests/oracle/dense_mechanism.h"
#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

constexpr double kQuantile = 1.959963984540054;  // of 0.95

Plan PlanOf(const Domain& domain, const Rational& rho, int64_t order) {
  SelectRequest request;
  request.domain = domain;
  request.workload.rules = {{MarginalRule::Kind::kUpTo, order}};
  request.target = BudgetFromRho(rho);
  return Select(request);
}

std::vector<NoisyResidual> MeasuredWith(const Plan& plan, const EncodedTable& table,
                                        BitSource& bits) {
  MeasureOptions options;
  options.counting.num_threads = 1;
  std::vector<NoisyResidual> residuals;
  MeasureWithBits(
      MeasurablePlan(VerifiedPlan(plan), table.num_rows(), {}), table, options,
      [&]() -> BitSource& { return bits; },
      [&](NoisyResidual&& residual) { residuals.push_back(std::move(residual)); });
  return residuals;
}

MeanColumns ColumnsOf(const Plan& plan, const ResidualIndex& index, const AttributeSet& table) {
  return MeanColumnsOf(plan, index, table, AxesOf(plan, AnswerKind::kPlanned),
                       Reconstruct(index, table), kQuantile);
}

// Everything that was measured as one least-squares problem over the cells of the whole domain, in
// which rows are split. It shares nothing with reconstruction but what the file of a measurement
// says: value = scale * (matrix counts) + noise.
struct DenseFit {
  DenseFit(const Plan& plan, const std::vector<NoisyResidual>& residuals) : domain(plan.domain) {
    const std::vector<ResidualBasis> bases = BasisOfAttributes(plan);
    std::vector<Eigen::MatrixXd> matrices;
    for (const ResidualBasis& basis : bases) {
      const int64_t n = basis.size;
      if (const auto* integers = std::get_if<IntegerMatrix>(&basis.matrix)) {
        Eigen::MatrixXd dense(integers->num_rows, n);
        for (int64_t k = 0; k < dense.size(); ++k) {
          dense(k / n, k % n) = static_cast<double>(integers->entries[static_cast<size_t>(k)]);
        }
        matrices.push_back(dense);
      } else {
        matrices.push_back(static_cast<double>(n) * Eigen::MatrixXd::Identity(n, n) -
                           Eigen::MatrixXd::Ones(n, n));
      }
    }
    Eigen::MatrixXd normal;
    Eigen::VectorXd right;
    for (const NoisyResidual& residual : residuals) {
      const Eigen::MatrixXd rows = oracle::KroneckerOver(domain, residual.attributes, matrices);
      const double scale = std::ldexp(static_cast<double>(RowSteps(domain, residual.attributes)),
                                      residual.scale_bits);
      Eigen::VectorXd values(rows.rows());
      std::visit(
          [&](const auto& integers) {
            for (Eigen::Index k = 0; k < values.size(); ++k) {
              values[k] = static_cast<double>(integers[static_cast<size_t>(k)]) / scale;
            }
          },
          residual.values);
      const double precision = 1 / residual.noise_variance.get_d();
      if (normal.size() == 0) {
        normal = Eigen::MatrixXd::Zero(rows.cols(), rows.cols());
        right = Eigen::VectorXd::Zero(rows.cols());
      }
      normal += precision * rows.transpose() * rows;
      right += precision * rows.transpose() * values;
    }
    inverse = normal.completeOrthogonalDecomposition().pseudoInverse();
    counts = inverse * right;
  }

  // The answers of the table on `set` whose query along the attribute of the mean is `along`.
  Eigen::MatrixXd Queries(const AttributeSet& set, const Eigen::RowVectorXd& along) const {
    std::vector<Eigen::MatrixXd> in_set;
    for (const Attribute& attribute : domain.attributes()) {
      in_set.push_back(MeanOf(attribute) != nullptr ? Eigen::MatrixXd(along)
                                                    : oracle::DenseQueries(attribute));
    }
    return oracle::KroneckerOver(domain, set, in_set);
  }

  Domain domain;
  Eigen::VectorXd counts;
  Eigen::MatrixXd inverse;
};

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
    const DenseFit fit(plan, residuals);
    for (const AttributeSet& table : MeasuredSets(plan)) {
      const int mean = MeanAttribute(domain, table);
      if (mean < 0) continue;
      ++num_tables;
      const MeanColumns columns = ColumnsOf(plan, index, table);
      const MeanEncoding& of_table = *MeanOf(domain[mean]);
      Eigen::RowVectorXd ones = Eigen::RowVectorXd::Zero(domain[mean].size);
      ones.head(2).setOnes();
      Eigen::RowVectorXd ends = Eigen::RowVectorXd::Zero(domain[mean].size);
      ends[0] = DecimalValue(of_table.low, of_table.decimals);
      ends[1] = DecimalValue(of_table.high, of_table.decimals);
      const Eigen::MatrixXd count = fit.Queries(table, ones);
      const Eigen::MatrixXd sum = fit.Queries(table, ends);
      ASSERT_EQ(std::ssize(columns.counts), count.rows());
      for (Eigen::Index k = 0; k < count.rows(); ++k) {
        const auto row = static_cast<size_t>(k);
        const Estimate c{count.row(k) * fit.counts,
                         count.row(k) * fit.inverse * count.row(k).transpose()};
        const Estimate s{sum.row(k) * fit.counts,
                         sum.row(k) * fit.inverse * sum.row(k).transpose()};
        const double covariance = sum.row(k) * fit.inverse * count.row(k).transpose();
        EXPECT_NEAR(columns.counts[row], c.value, 1e-6);
        EXPECT_NEAR(columns.count_std_devs[row], std::sqrt(c.variance),
                    1e-7 * std::sqrt(c.variance));
        EXPECT_NEAR(columns.sums[row], s.value, 1e-7 * (1 + std::abs(s.value)));
        EXPECT_NEAR(columns.sum_std_devs[row], std::sqrt(s.variance), 1e-6 * std::sqrt(s.variance));
        const auto expected = EstimateMean(s, c, covariance, kQuantile);
        ASSERT_EQ(std::isnan(columns.means[row]), !expected);
        if (!expected) continue;
        EXPECT_NEAR(columns.means[row], expected->value, 1e-6 * (1 + std::abs(expected->value)));
        EXPECT_NEAR(columns.mean_std_devs[row], std::sqrt(expected->variance),
                    1e-5 * std::sqrt(expected->variance));
        const double width = expected->interval.upper - expected->interval.lower;
        EXPECT_NEAR(columns.mean_lower[row], expected->interval.lower, 1e-5 * width);
        EXPECT_NEAR(columns.mean_upper[row], expected->interval.upper, 1e-5 * width);
      }
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
    const auto found = EstimateMean(Answer(index, mean.sum), Answer(index, mean.count),
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

// Whether `hits` of `tries` is what a probability of `chance` gives, at a level of 1e-4.
bool Fits(int hits, int tries, double chance) {
  const double expected = tries * chance;
  return std::abs(hits - expected) <= 3.9 * std::sqrt(expected * (1 - chance));
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
  std::vector<double> true_counts(3), true_sums(3);
  for (const Row& row : rows) {
    const auto number = NumberOf(*MeanOf(domain[1]), row[1]);
    if (!number) continue;
    ++true_counts[static_cast<size_t>(row[0])];
    true_sums[static_cast<size_t>(row[0])] += *number;
  }
  const EncodedTable table = Encoded(domain, rows);
  DeterministicBits bits(9);
  std::vector<double> sum_z(3), square_z(3);
  std::vector<int> sums_covered(3), means_covered(3), means_unknown(3);
  for (int r = 0; r < kNumReleases; ++r) {
    const auto residuals = MeasuredWith(plan, table, bits);
    const MeanColumns columns = ColumnsOf(plan, IndexResiduals(plan, residuals), {0, 1});
    for (size_t k = 0; k < 3; ++k) {
      const double z = (columns.sums[k] - true_sums[k]) / columns.sum_std_devs[k];
      sum_z[k] += z;
      square_z[k] += z * z;
      sums_covered[k] += std::abs(z) <= kQuantile ? 1 : 0;
      // An unbounded interval holds every number.
      const double mean = true_sums[k] / true_counts[k];
      const bool is_unknown = std::isnan(columns.means[k]);
      means_unknown[k] += is_unknown ? 1 : 0;
      means_covered[k] +=
          is_unknown || (columns.mean_lower[k] <= mean && mean <= columns.mean_upper[k]) ? 1 : 0;
    }
  }
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_LT(std::abs(sum_z[k]), 3.9 * std::sqrt(kNumReleases)) << k;
    EXPECT_LT(std::abs(square_z[k] / kNumReleases - 1), 3.9 * std::sqrt(2.0 / kNumReleases)) << k;
    EXPECT_GT(std::abs(square_z[k] / 0.81 / kNumReleases - 1), 3.9 * std::sqrt(2.0 / kNumReleases));
    EXPECT_TRUE(Fits(sums_covered[k], kNumReleases, 0.95)) << k << ": " << sums_covered[k];
  }
  EXPECT_TRUE(Fits(means_covered[0], kNumReleases, 0.95)) << means_covered[0];
  EXPECT_TRUE(Fits(means_covered[2], kNumReleases, 0.95)) << means_covered[2];
  EXPECT_FALSE(Fits(means_covered[0], kNumReleases, 0.92)) << "and no other";
  EXPECT_EQ(means_unknown[0], 0);
  // Fieller's set is unbounded more often than its complement misses: at least the confidence.
  EXPECT_GE(means_covered[1], 0.94 * kNumReleases);
  EXPECT_GT(means_unknown[1], kNumReleases / 10);
}

TEST(MeanEstimateTest, TooUncertainACountHasNoMean) {
  EXPECT_FALSE(EstimateMean({10, 1}, {1.9, 1}, 0, 1.96));
  EXPECT_TRUE(EstimateMean({10, 1}, {2.0, 1}, 0, 1.96));
  EXPECT_FALSE(EstimateMean({10, 1}, {-50, 1}, 0, 1.96)) << "significantly negative is no count";
  EXPECT_FALSE(EstimateMean({10, 1}, {std::nan(""), 1}, 0, 1.96));
  const auto mean = EstimateMean({300, 4}, {100, 1}, 1, 2);
  ASSERT_TRUE(mean);
  EXPECT_DOUBLE_EQ(mean->value, 3);
  EXPECT_DOUBLE_EQ(mean->variance, (4 - 6 + 9) / 1e4);
  EXPECT_LT(mean->interval.lower, 3);
  EXPECT_GT(mean->interval.upper, 3);
}

}  // namespace
}  // namespace residua
