#include "residua/files/verify_file.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "residua/files/measurement_file.h"
#include "residua/files/plan_file.h"
#include "residua/measure/measure.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

class VerifyFileTest : public FolderTest {
 protected:
  const PlanFile plan_{Select({ParseDomain("4,3"),
                               {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                               {},
                               BudgetFromPcost(ParseRational("1", "pcost")),
                               {}}),
                       {}};
};

TEST_F(VerifyFileTest, TellsPlansFromMeasurements) {
  WritePlan("plan.json", plan_);
  EXPECT_EQ(VerifyFile("plan.json").cost.pcost, plan_.plan.pcost);
  MeasurementWriter writer("m.parquet", plan_);
  Measure(plan_.plan,
          EncodedTable(plan_.plan.domain, {std::vector<uint8_t>{0}, std::vector<uint8_t>{1}}), {},
          [&](NoisyResidual&& residual) { writer.Write(residual); });
  writer.Finish();
  const VerifiedCost verified = VerifyFile("m.parquet");
  EXPECT_EQ(verified.cost.pcost, plan_.plan.pcost);
  EXPECT_EQ(verified.budget, plan_.plan.budget);
}

// The name is put in front once, whether or not the error had it.
TEST_F(VerifyFileTest, EveryErrorNamesTheFile) {
  PlanFile dear = plan_;
  dear.plan.budget = BudgetFromPcost(ParseRational("1/2", "pcost"));
  WritePlan("dear.json", dear);
  for (const char* name : {"dear.json", "missing.json"}) {
    try {
      VerifyFile(name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(PlainWords(error.place()), name) << error.what();
    }
  }
}

}  // namespace
}  // namespace residua
