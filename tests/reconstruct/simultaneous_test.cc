#include "residua/reconstruct/simultaneous.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <random>

#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {
namespace {

Plan PlanOf(const char* domain, const char* marginals) {
  return Select({ParseDomain(domain), {ParseMarginalRules(marginals), {}}, {}, BudgetFromPcost(1)});
}

double FactorOf(const Plan& plan, const std::vector<AttributeSet>& tables, double confidence) {
  return SimultaneousFactor(plan, tables, AxesOf(plan, AnswerKind::kPlanned), confidence);
}

double Sidak(double num_answers, double confidence) {
  return TwoSidedQuantile(std::pow(confidence, 1 / num_answers));
}

// Draws from the dense covariance of the table's answers, which nothing here has a part in.
double CoverageOf(const Plan& plan, const AttributeSet& table, double factor) {
  const Eigen::MatrixXd covariance = oracle::MarginalCovariance(plan, table);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
  const Eigen::MatrixXd root =
      eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
  std::mt19937_64 bits(7);
  std::normal_distribution<double> normal;
  const int num_draws = 20000;
  int covered = 0;
  for (int k = 0; k < num_draws; ++k) {
    Eigen::VectorXd z(covariance.rows());
    for (double& value : z) value = normal(bits);
    const Eigen::VectorXd errors =
        (root * z).cwiseAbs().cwiseQuotient(covariance.diagonal().cwiseSqrt());
    covered += errors.maxCoeff() <= factor ? 1 : 0;
  }
  return static_cast<double>(covered) / num_draws;
}

TEST(SimultaneousTest, CoversAllAnswersOfATableAtOnce) {
  for (const char* domain : {"12:prefix,3", "6:range,2", "5,4"}) {
    const Plan plan = PlanOf(domain, "<=2");
    for (const AttributeSet& table : {AttributeSet{0}, AttributeSet{0, 1}}) {
      for (const double confidence : {0.8, 0.95}) {
        const double factor = FactorOf(plan, {table}, confidence);
        const double coverage = CoverageOf(plan, table, factor);
        EXPECT_GT(coverage, confidence - 0.005) << domain;
        EXPECT_LT(coverage, confidence + 0.03) << domain;
        EXPECT_GT(factor, TwoSidedQuantile(confidence));
      }
    }
  }
}

TEST(SimultaneousTest, IsNarrowerThanForIndependentErrors) {
  const Plan plan = PlanOf("40:range", "<=1");
  const double factor = FactorOf(plan, {{0}}, 0.95);
  EXPECT_LT(factor, Sidak(820, 0.95) - 0.1);
  EXPECT_EQ(factor, FactorOf(plan, {{0}}, 0.95));  // the same each time
}

TEST(SimultaneousTest, OfOneAnswerIsTheQuantile) {
  const Plan plan = PlanOf("5", "<=1");
  EXPECT_EQ(FactorOf(plan, {{}}, 0.95), TwoSidedQuantile(0.95));
}

TEST(SimultaneousTest, OfTheReleaseIsWiderThanOfATable) {
  const Plan plan = PlanOf("5,4,3", "<=2");
  const double table = FactorOf(plan, {{0, 1}}, 0.95);
  const double release = FactorOf(plan, {{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}, 0.95);
  EXPECT_GT(release, table);
  EXPECT_LE(release, Sidak(1 + 12 + 20 + 15 + 12, 0.95));
}

TEST(SimultaneousTest, OfManyAnswersIsSidaks) {
  const Plan plan = PlanOf("300,200", "<=2");
  EXPECT_NEAR(FactorOf(plan, {{0, 1}}, 0.95), Sidak(60000, 0.95), 1e-6);
  // A confidence that the simulations cannot tell.
  EXPECT_NEAR(FactorOf(plan, {{0}}, 0.9999), Sidak(300, 0.9999), 1e-6);
}

}  // namespace
}  // namespace residua
