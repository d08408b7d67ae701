#include <gtest/gtest.h>

#include "residua/basis/convolution/convolution_fit.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"
#include "tests/files/forged_plan.h"

namespace residua {
namespace {

PlanFile ConvolutionPlanFile(const std::string& domain) {
  SelectRequest request{
      ParseDomain(domain), {{{MarginalRule::Kind::kUpTo, 2}}, {}}, {}, BudgetFromPcost(1)};
  for (const Attribute& attribute : request.domain.attributes()) {
    request.matrices.emplace_back(SubtractionMatrix{});
    if (CanUseConvolution(attribute)) {
      request.matrices.back() = FitConvolution(attribute, StrategyGoal::kMean);
    }
  }
  return {Select(request), {}};
}

// What a change to the first basis says.
std::optional<ErrorKind> KindOfForgedBasis(const PlanFile& plan,
                                           const std::function<void(Json&)>& forge) {
  return KindOfForged(plan, [&](Json& json) { forge(json["bases"][0]); });
}

TEST(ConvolutionPlanFileTest, ReadsBackIdentical) {
  const PlanFile file = ConvolutionPlanFile("30:prefix,3,30:prefix,12:range");
  const std::string text = PlanToJson(file);
  EXPECT_EQ(Json::parse(text)["bases"][0]["kernel"].size(), 29u);
  const PlanFile read = PlanFromJson(text, "plan.json");
  EXPECT_EQ(read.plan, file.plan);
  EXPECT_EQ(PlanToJson(read), text);
  VerifyPlan(read.plan);
}

TEST(ConvolutionPlanFileTest, ForgedNumbersAreRefused) {
  const PlanFile file = ConvolutionPlanFile("30:prefix,3");
  ASSERT_EQ(KindOfForgedBasis(file, [](Json&) {}), std::nullopt);
  for (const std::string key : {"row_weights", "kernel", "column_weights"}) {
    const auto number = [&](size_t at, const Json& value) {
      return KindOfForgedBasis(file, [&](Json& basis) { basis[key][at] = value; });
    };
    // Costs more than the plan states.
    EXPECT_NE(number(5, 100000), std::nullopt) << key;
    EXPECT_NE(number(0, 0), std::nullopt) << key;
    EXPECT_NE(number(3, -1), std::nullopt) << key;
    EXPECT_NE(number(3, (int64_t{1} << 20) + 1), std::nullopt) << key;
    EXPECT_NE(number(3, std::numeric_limits<int64_t>::max()), std::nullopt) << key;
    EXPECT_NE(number(3, 18446744073709551615u), std::nullopt) << key;
    EXPECT_NE(number(3, 1.5), std::nullopt) << key;
    EXPECT_NE(number(3, "7"), std::nullopt) << key;
    EXPECT_NE(number(3, nullptr), std::nullopt) << key;
    EXPECT_NE(KindOfForgedBasis(file, [&](Json& basis) { basis.erase(key); }), std::nullopt);
    EXPECT_NE(KindOfForgedBasis(file, [&](Json& basis) { basis[key].push_back(1); }), std::nullopt);
    EXPECT_NE(KindOfForgedBasis(file, [&](Json& basis) { basis[key].erase(0); }), std::nullopt);
    EXPECT_NE(KindOfForgedBasis(file, [&](Json& basis) { basis[key] = 7; }), std::nullopt);
  }
}

}  // namespace
}  // namespace residua
