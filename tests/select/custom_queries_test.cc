// Custom queries that no one should write: nearly dependent, huge and tiny, empty, repeated.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <string>

#include "residua/base/error.h"
#include "residua/select/lower_bound.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

Attribute CustomOf(int64_t size, std::vector<double> entries) {
  Attribute attribute;
  attribute.name = "custom";
  attribute.size = size;
  attribute.queries = QueryKind::kCustom;
  attribute.custom = {static_cast<int64_t>(entries.size()) / size, std::move(entries)};
  return attribute;
}

// Rows of small integers and the total, of which one or two were then made unkind.
Attribute UnkindQueries(std::mt19937* random) {
  const auto draw = [&](int first, int last) {
    return std::uniform_int_distribution<int>(first, last)(*random);
  };
  const int64_t size = draw(2, 6);
  std::vector<std::vector<double>> rows;
  for (int q = draw(0, 7); q > 0; --q) {
    rows.emplace_back();
    for (int64_t j = 0; j < size; ++j) rows.back().push_back(draw(-1, 3));
  }
  rows.emplace_back(size, 1.0);
  for (int changes = draw(1, 2); changes > 0; --changes) {
    const std::vector<double> from =
        rows[static_cast<size_t>(draw(0, static_cast<int>(rows.size()) - 1))];
    std::vector<double> row = from;
    switch (draw(0, 4)) {
      case 0:
        for (double& entry : row) entry = 0;
        break;
      case 1:
        row[static_cast<size_t>(draw(0, static_cast<int>(size) - 1))] += std::pow(10, -draw(1, 16));
        break;
      case 2:
        for (double& entry : row) entry *= std::pow(10, draw(-12, 12));
        break;
      case 3:
        row[static_cast<size_t>(draw(0, static_cast<int>(size) - 1))] = std::pow(10, draw(-12, 12));
        break;
      default:  // the same again
        break;
    }
    rows.push_back(row);
  }
  std::vector<double> entries;
  for (const auto& row : rows) entries.insert(entries.end(), row.begin(), row.end());
  return CustomOf(size, entries);
}

// The variance of each answer of the attribute's own table, from the plan's integers in long double.
Wide VariancesOf(const Plan& plan, const Attribute& attribute) {
  const auto total = static_cast<long double>(NoiseVariance(plan, {}).get_d());
  const auto& matrix = std::get<IntegerMatrix>(plan.bases.front().matrix);
  const auto residual = static_cast<long double>(NoiseVariance(plan, {0}).get_d());
  const int64_t n = attribute.size;
  Wide stacked(matrix.num_rows + 1, n);
  stacked.row(0).setOnes();
  Wide queries(attribute.custom.num_rows, n);
  for (int64_t k = 0; k < matrix.num_rows * n; ++k) {
    stacked(1 + k / n, k % n) = static_cast<long double>(matrix.entries[static_cast<size_t>(k)]);
  }
  for (int64_t k = 0; k < queries.size(); ++k) {
    queries(k / n, k % n) = attribute.custom.entries[static_cast<size_t>(k)];
  }
  // W = coefficients * stacked.
  const Wide coefficients =
      stacked.transpose().colPivHouseholderQr().solve(Wide(queries.transpose())).transpose();
  Wide variances(queries.rows(), 1);
  for (int64_t q = 0; q < queries.rows(); ++q) {
    variances(q, 0) = coefficients(q, 0) * coefficients(q, 0) * total +
                      coefficients.row(q).tail(matrix.num_rows).squaredNorm() * residual;
  }
  return variances;
}

// A plan that holds, or one line that says what to do.
TEST(CustomQueriesTest, ArePlannedRightOrRefusedWithARemedy) {
  std::mt19937 random(31);
  int num_planned = 0;
  int num_refused = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Attribute attribute = UnkindQueries(&random);
    SelectRequest request;
    request.target = BudgetFromPcost(1);
    request.objective = ParseObjective(trial % 3 == 0   ? "max-variance"
                                       : trial % 3 == 1 ? "sum-variance"
                                                        : "p-norm=3");
    if (trial % 5 == 0) request.basis = BasisKind::kOrthogonal;
    try {
      request.domain = Domain({attribute});
      request.workload = {{}, {{{0}, 1.0}}};
      const Plan plan = Select(request);
      ++num_planned;
      EXPECT_NO_THROW(VerifyPlan(plan)) << trial;
      EXPECT_TRUE(std::isfinite(plan.loss) && plan.loss > 0) << trial;
      if (const auto certificate = CertifyPlan(plan)) {
        EXPECT_GE(certificate->above_lower_bound, 0) << trial;
      }
      if (!std::holds_alternative<IntegerMatrix>(plan.bases.front().matrix)) continue;
      const Wide variances = VariancesOf(plan, attribute);
      for (int64_t q = 0; q < variances.rows(); ++q) {
        EXPECT_NEAR(AnswerCovariance(plan, {0}, std::vector{q}, std::vector{q}),
                    static_cast<double>(variances(q, 0)),
                    1e-6 * static_cast<double>(variances(q, 0)))
            << trial << " " << q;
      }
    } catch (const Error& error) {
      ++num_refused;
      EXPECT_TRUE(error.kind() == ErrorKind::kBadInput || error.kind() == ErrorKind::kTooLarge)
          << trial << " " << error.what();
      EXPECT_FALSE(error.remedy().empty()) << trial << " " << error.what();
    }
  }
  EXPECT_GT(num_planned, 100);
  EXPECT_GT(num_refused, 20);
}

TEST(CustomQueriesTest, ThatDifferInTheLastDigitsAreRefused) {
  SelectRequest request;
  request.target = BudgetFromPcost(1);
  request.domain = Domain({CustomOf(3, {1, 1, 1, 1, 2, 3, 1, 2, 3.0000000001})});
  request.workload = {{}, {{{0}, 1.0}}};
  for (const char* objective : {"sum-variance", "max-variance"}) {
    request.objective = ParseObjective(objective);
    try {
      Select(request);
      FAIL() << objective;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "the queries of attribute 'custom' nearly depend on one another, or their entries "
                "differ too much in size, so that no basis can tell them apart; write the entries "
                "with fewer digits and of like size, or leave a query out");
    }
  }
  // The same queries with a strategy of their own are measured by that; no bound can be stated.
  Attribute with_strategy = request.domain[0];
  with_strategy.strategy = {4, {1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}};
  request.domain = Domain({with_strategy});
  const Plan plan = Select(request);
  EXPECT_NO_THROW(VerifyPlan(plan));
  const auto certificate = CertifyPlan(plan);
  EXPECT_GE(certificate ? certificate->above_lower_bound : 0, 0);
}

}  // namespace
}  // namespace residua
