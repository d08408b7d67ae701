#include "residua/release/measure_to_file.h"

#include <gtest/gtest.h>

#include <map>
#include <stop_token>

#include "residua/base/error.h"
#include "residua/files/measurement_file.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/data/arrow_rows.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

using Kind = LedgerEntry::Kind;

PlanFile MakePlan() {
  return {Select({ParseDomain("4,4"),
                  {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                  {},
                  BudgetFromPcost(ParseRational("1", "pcost")),
                  {}}),
          {}};
}

class MeasureToFileTest : public FolderTest {
 protected:
  MeasureRequest RequestFor(ArrowArrayStream* stream) const {
    MeasureRequest request{plan_, {}, "m.parquet"};
    request.places.data.arrow = stream;
    request.places.ledger = "a.ledger";
    request.options.counting.stop = stop_.get_token();
    return request;
  }

  static std::vector<Kind> Kinds() {
    std::vector<Kind> kinds;
    if (!std::filesystem::exists("a.ledger")) return kinds;
    for (const LedgerEntry& entry : Ledger::Open("a.ledger").Entries()) {
      kinds.push_back(entry.kind);
    }
    return kinds;
  }

  const PlanFile plan_ = MakePlan();
  std::stop_source stop_;
  ArrowRows rows_{{{"0", {0, 1, 2, 3}}, {"1", {0, 0, 3, 3}}}};
};

TEST_F(MeasureToFileTest, MemoryHoldsWhatAFileWould) {
  std::vector<NoisyResidual> residuals;
  const MeasureOutcome outcome = MeasureToMemory(RequestFor(rows_.stream()), &residuals);
  EXPECT_EQ(residuals.size(), 4u);
  std::map<AttributeSet, Rational> variances;
  for (const NoisyResidual& residual : residuals) {
    variances[residual.attributes] = residual.noise_variance;
  }
  for (const AttributeSet& set : MeasuredSets(plan_.plan)) {
    EXPECT_EQ(variances.at(set), IntegerNoiseVariance(plan_.plan, set));
  }
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed}));
  EXPECT_EQ(Ledger::Open("a.ledger").Entries()[1].what, kInMemory);
  EXPECT_EQ(outcome.balance.spent, plan_.plan.pcost);
  EXPECT_TRUE(outcome.made_ledger);
  // It is spent, whatever became of the residuals.
  ArrowRows again({{"0", {0}}, {"1", {0}}});
  EXPECT_THROW(MeasureToMemory(RequestFor(again.stream()), &residuals), Error);
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed, Kind::kRefused}));
}

TEST_F(MeasureToFileTest, StoppedWhileReadingSpendsNothing) {
  stop_.request_stop();
  std::vector<NoisyResidual> residuals;
  try {
    MeasureToMemory(RequestFor(rows_.stream()), &residuals);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kStopped);
  }
  EXPECT_TRUE(Kinds().empty());
}

TEST_F(MeasureToFileTest, StoppedAfterReservingStaysReserved) {
  const auto stop_once_reserved = [&](bool to_file) {
    ArrowRows rows({{"0", {0, 1}}, {"1", {0, 0}}});
    MeasureRequest request = RequestFor(rows.stream());
    request.again = true;
    request.on_reserved = [&] { stop_.request_stop(); };
    std::vector<NoisyResidual> residuals;
    try {
      if (to_file) {
        MeasureToFile(request);
      } else {
        MeasureToMemory(request, &residuals);
      }
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kStopped);
      EXPECT_NE(std::string(error.what()).find("the spend stays reserved as entry 2 of a.ledger"),
                std::string::npos)
          << error.what();
    }
    EXPECT_TRUE(residuals.empty());
    EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kReserved}));
    EXPECT_FALSE(std::filesystem::exists("m.parquet"));
    Ledger::Open("a.ledger").Forgive(2, "a test");
    std::filesystem::remove("a.ledger");
    stop_ = {};
  };
  stop_once_reserved(false);
  stop_once_reserved(true);
}

TEST_F(MeasureToFileTest, PlanningCanBeStopped) {
  stop_.request_stop();
  for (const char* objective : {"sum-variance", "max-variance", "p-norm=3"}) {
    SelectRequest request{ParseDomain("20:prefix,5"),
                          {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                          ParseObjective(objective),
                          BudgetFromPcost(1)};
    request.solver.stop = stop_.get_token();
    try {
      Select(request);
      ADD_FAILURE() << objective;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kStopped);
    }
  }
}

}  // namespace
}  // namespace residua
