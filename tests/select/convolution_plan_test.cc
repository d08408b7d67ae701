#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "residua/base/error.h"
#include "residua/basis/convolution/convolution_fit.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/select/convolution_sensitivity.h"
#include "residua/select/lower_bound.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "tests/basis/named_attribute.h"
#include "tests/oracle/dense_mechanism.h"
#include "tests/select/dense_comparison.h"

namespace residua {
namespace {

SelectRequest Request(const std::string& domain, int order, const std::string& objective) {
  return {ParseDomain(domain),
          {{{MarginalRule::Kind::kUpTo, order}}, {}},
          ParseObjective(objective),
          BudgetFromPcost(1)};
}

// The request with convolutions for all prefix sums and ranges, however few cells they have; with
// the total in their rows at this trade-off, if it is one.
SelectRequest Convolved(SelectRequest request, double trade_off = -1) {
  for (const Attribute& attribute : request.domain.attributes()) {
    request.matrices.emplace_back(SubtractionMatrix{});
    if (CanUseConvolution(attribute)) {
      request.matrices.back() = trade_off < 0 ? FitConvolution(attribute, StrategyGoal::kMean)
                                              : FitConvolutionWithTotal(attribute, trade_off);
    }
  }
  return request;
}

// Every figure of a plan with convolutions is that of dense matrices.
TEST(ConvolutionPlanTest, CostsAndCovariancesAgreeWithDenseMatrices) {
  std::mt19937 random(8);
  const std::vector<std::string> domains = {"5:prefix,3", "2:range,4:prefix", "6:range,2,2",
                                            "7:prefix"};
  for (const std::string& domain : domains) {
    double trade_off = -1;
    for (const std::string objective : {"sum-variance", "max-variance", "p-norm=3"}) {
      SelectRequest request = Convolved(Request(domain, 2, objective), trade_off);
      trade_off += 2;
      const Plan plan = Select(request);
      VerifyPlan(plan);
      // Columns of a basis have one norm but for rounding.
      EXPECT_NEAR(oracle::PrivacyCostMatrix(plan).diagonal().maxCoeff(), 1, 1e-3);
      EXPECT_LE(oracle::PrivacyCostMatrix(plan).diagonal().maxCoeff(), 1 + 1e-9);
      const double largest = ExpectDenseCovariances(plan, 8, random).max_variance;
      EXPECT_NEAR(Summarize(plan, PredictErrors(plan)).max_variance / largest, 1, 1e-7);
      EXPECT_LE(CertifyPlan(plan)->lower_bound, plan.loss);
      ExpectReplacedRowsCostAtMost(request);
    }
  }
}

// Near the dense plan, which is near the optimum, and the nearer the more cells there are.
TEST(ConvolutionPlanTest, LosesLittleAgainstTheDensePlan) {
  for (const std::string kind : {"prefix", "range"}) {
    double before = 1;
    for (const int size : {64, 256, 1024}) {
      SelectRequest request = Request(std::to_string(size) + ":" + kind, 1, "sum-variance");
      request.objective.weighting = Weighting::kCells;
      const Plan dense = Select(request);
      const Plan plan = Select(Convolved(request));
      const double lost = plan.loss / dense.loss - 1;
      EXPECT_GT(lost, 0);
      EXPECT_LT(lost, before);
      before = lost;
    }
    EXPECT_LT(before, 0.03);
  }
}

// The same at a trade-off with the total, of which the best one is near the dense plan already for
// few cells, whatever the total counts.
TEST(ConvolutionPlanTest, LosesLittleWithTheTotalInItsRows) {
  for (const std::string kind : {"prefix", "range"}) {
    for (const Weighting weighting : {Weighting::kCells, Weighting::kEqual}) {
      SelectRequest request = Request("1024:" + kind, 1, "sum-variance");
      request.objective.weighting = weighting;
      const Plan dense = Select(request);
      double least = 1;
      for (double trade_off = 0; trade_off <= MostConvolutionTradeOff(request.domain[0]);
           ++trade_off) {
        least = std::min(least, Select(Convolved(request, trade_off)).loss / dense.loss - 1);
      }
      EXPECT_GT(least, 0);
      EXPECT_LT(least, 0.007);
    }
  }
}

TEST(ConvolutionPlanTest, SensitivitiesAreRecomputedExactly) {
  std::mt19937_64 random(6);
  for (int trial = 0; trial < 60; ++trial) {
    const int64_t size = 2 + static_cast<int64_t>(random() % 700);
    ConvolutionMatrix matrix;
    for (int64_t k = 0; k + 1 < size; ++k) {
      const auto draw = [&] {
        return random() % 4 == 0 ? kMostConvolutionWeight
                                 : 1 + static_cast<int64_t>(random() % 1000000);
      };
      matrix.row_weights.push_back(draw());
      matrix.kernel.push_back(k > 0 && random() % 3 == 0 ? 0 : draw());
      matrix.column_weights.push_back(draw());
      if (trial % 2 == 0) continue;
      matrix.total_weights.push_back(
          random() % 4 == 0 ? kMostTotalWeight : static_cast<int64_t>(random() % 1000000000));
    }
    EXPECT_EQ(RecomputedSensitivity(matrix), SquaredSensitivity(matrix));
    Integer most = 0;
    for (size_t j = 0; j <= matrix.kernel.size(); ++j) {
      Integer norm = 0;
      for (size_t i = 0; i < matrix.kernel.size(); ++i) {
        Integer entry =
            i < j ? Integer(0)
                  : Integer(ToInteger(matrix.kernel[i - j]) * ToInteger(matrix.column_weights[j]));
        if (!matrix.total_weights.empty()) entry -= ToInteger(matrix.total_weights[i]);
        entry *= ToInteger(matrix.row_weights[i]);
        norm += entry * entry;
      }
      most = std::max(most, norm);
    }
    EXPECT_EQ(RecomputedSensitivity(matrix), most);
  }
}

// Of more cells than a dense basis is chosen for.
TEST(ConvolutionPlanTest, LongAttributesArePlannedAndCertified) {
  for (const std::string kind : {"prefix", "range"}) {
    for (const std::string objective : {"sum-variance", "max-variance"}) {
      SelectRequest request = Request("4100:" + kind + ",3", 2, objective);
      request.objective.weighting = Weighting::kCells;
      const Plan plan = Select(request);
      EXPECT_TRUE(std::holds_alternative<ConvolutionMatrix>(
          plan.bases[static_cast<size_t>(plan.classes.class_of[0])].matrix));
      VerifyPlan(plan);
      const auto certificate = CertifyPlan(plan);
      ASSERT_TRUE(certificate);
      EXPECT_GT(certificate->above_lower_bound, 0);
      const double most = objective == "sum-variance" ? 0.005 : 1;
      EXPECT_LT(certificate->above_lower_bound, most);
      if (objective == "max-variance") continue;
      // With the trade-off of other weights, or where the total is free.
      for (const Weighting weighting : {Weighting::kEqual, Weighting::kSqrtCells}) {
        request.objective.weighting = weighting;
        const Plan other = Select(request);
        VerifyPlan(other);
        EXPECT_GT(CertifyPlan(other)->above_lower_bound, 0);
        EXPECT_LT(CertifyPlan(other)->above_lower_bound, most);
      }
      if (kind == "range") continue;
      request.protection.neighbours = Protection::Neighbours::kReplaceOne;
      const Plan replaced = Select(request);
      VerifyPlan(replaced);
      const ResidualMatrix& matrix =
          replaced.bases[static_cast<size_t>(replaced.classes.class_of[0])].matrix;
      EXPECT_TRUE(std::get<ConvolutionMatrix>(matrix).total_weights.empty());
    }
  }
  SelectRequest request = Request("4100:prefix", 1, "sum-variance");
  request.basis = BasisKind::kOrthogonal;
  EXPECT_THROW(Select(request), Error);
  EXPECT_THROW(Select(Request("300000:prefix", 1, "sum-variance")), Error);
  EXPECT_THROW(Select(Request("20000:range", 1, "sum-variance")), Error);
}

// Weights of the total between those that bases were fitted for, and beyond: from next to nothing
// to a hundred times the mean. Two long attributes, and one beside a short one, in tables of both.
TEST(ConvolutionPlanTest, EveryTradeOffIsCertifiedWithinOnePercent) {
  for (const std::string kind : {"prefix", "range"}) {
    for (const double weight : {1e-5, 2e-3, 0.03, 3.0, 100.0}) {
      SelectRequest request = Request("4200:" + kind, 1, "sum-variance");
      request.objective.weighting = Weighting::kEqual;
      request.workload = {{}, {{{}, weight}, {{0}, 1}}};
      const auto certificate = CertifyPlan(Select(request));
      ASSERT_TRUE(certificate);
      EXPECT_GT(certificate->above_lower_bound, 0);
      EXPECT_LT(certificate->above_lower_bound, 0.006) << kind << " " << weight;
    }
  }
  for (const std::string domain :
       {"4100:prefix,5000:range", "4100:prefix*2", "6000:range,20:prefix"}) {
    const auto certificate = CertifyPlan(Select(Request(domain, 2, "sum-variance")));
    ASSERT_TRUE(certificate);
    EXPECT_GT(certificate->above_lower_bound, 0);
    EXPECT_LT(certificate->above_lower_bound, 0.01) << domain;
  }
}

// A plan whose basis is another than it was priced for.
TEST(ConvolutionPlanTest, ForgedBasesAreRefused) {
  const Plan plan = Select(Convolved(Request("40:prefix,3", 2, "sum-variance"), 1.5));
  VerifyPlan(plan);
  const auto forged = [&](const auto& change) {
    Plan other = plan;
    for (ResidualBasis& basis : other.bases) {
      if (auto* matrix = std::get_if<ConvolutionMatrix>(&basis.matrix)) change(*matrix);
    }
    EXPECT_THROW(VerifyPlan(other), Error);
  };
  forged([](ConvolutionMatrix& matrix) { matrix.column_weights[7] += 50; });
  forged([](ConvolutionMatrix& matrix) { matrix.row_weights[38] *= 2; });
  forged([](ConvolutionMatrix& matrix) { matrix.kernel[3] += 1; });
  forged([](ConvolutionMatrix& matrix) { matrix.kernel[0] = 0; });
  forged([](ConvolutionMatrix& matrix) { matrix.kernel.pop_back(); });
  forged([](ConvolutionMatrix& matrix) { matrix.total_weights.pop_back(); });
  forged([](ConvolutionMatrix& matrix) { matrix.total_weights.clear(); });
  forged([](ConvolutionMatrix& matrix) { matrix.total_weights[20] += 1000; });
  forged([](ConvolutionMatrix& matrix) { matrix.total_weights[3] = 0; });
}

}  // namespace
}  // namespace residua
