#include "residua/release/measure_to_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <map>
#include <stop_token>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/privacy/protection.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/data/arrow_rows.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

namespace fs = std::filesystem;
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

  // What the error says; empty if there is none.
  template <typename Work>
  static std::string Refusal(const Work& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::string RefusalOf(const MeasureRequest& request) const {
    return Refusal([&] { MeasureToFile(request); });
  }

  static bool Says(const std::string& message, const std::string& words) {
    return message.find(words) != std::string::npos;
  }

  static std::vector<LedgerEntry> EntriesOf(const std::string& ledger) {
    return Ledger::Open(ledger).Entries();
  }

  static void Alter(const std::string& ledger, const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(ledger.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }

  // A request that is stopped once its spend is reserved, and so interrupted.
  void CutOff(MeasureRequest request) const {
    std::stop_source stop;
    request.options.counting.stop = stop.get_token();
    request.on_reserved = [&] { stop.request_stop(); };
    EXPECT_TRUE(Says(RefusalOf(request), "stays reserved"));
  }

  // A request for the rows of a file, which may have a ledger beside it.
  MeasureRequest RequestOfFile() const {
    MeasureRequest request{plan_, {}, "m.parquet"};
    request.places.data.source = "data.csv";
    request.places.ledger = LedgerBeside(request.places.data);
    request.options.counting.stop = stop_.get_token();
    return request;
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
  // It is spent, whatever happened to the residuals.
  ArrowRows again({{"0", {0}}, {"1", {0}}});
  EXPECT_THROW(MeasureToMemory(RequestFor(again.stream()), &residuals), Error);
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed, Kind::kRefused}));
}

// Nine rows of ten may be left out; one more is refused before the spend, unless it is asked for.
TEST_F(MeasureToFileTest, AnAttributeThatDropsNearlyEverythingIsRefused) {
  Attribute attribute;
  attribute.name = "code";
  attribute.size = 2;
  attribute.encoding = {IntegerEncoding{0, 1}, false, OutsidePolicy::kDrop};
  const PlanFile plan{Select({Domain({attribute}),
                              {{{MarginalRule::Kind::kUpTo, 1}}, {}},
                              {},
                              BudgetFromPcost(ParseRational("1", "pcost")),
                              {}}),
                      {}};
  const auto measure = [&](int64_t num_kept, int64_t num_dropped, bool allow_drops) {
    std::vector<int64_t> codes(static_cast<size_t>(num_kept), 0);
    codes.insert(codes.end(), static_cast<size_t>(num_dropped), 7);
    ArrowRows rows({{"code", codes}});
    MeasureRequest request{plan, {}, ""};
    request.places.data.arrow = rows.stream();
    request.places.ledger = "a.ledger";
    request.again = true;
    request.allow_drops = allow_drops;
    std::vector<NoisyResidual> residuals;
    return Refusal([&] { MeasureToMemory(request, &residuals); });
  };
  const std::string refusal = measure(1, 10, false);
  EXPECT_TRUE(Says(refusal, "the data: column 'code' leaves out 10 of 11 rows")) << refusal;
  EXPECT_TRUE(Says(refusal, "attributes.code")) << refusal;
  EXPECT_EQ(Kinds(), std::vector<Kind>()) << "there is not even a ledger";
  EXPECT_EQ(measure(1, 10, true), "");
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed}));
  fs::remove("a.ledger");
  EXPECT_EQ(measure(1, 9, false), "");
  fs::remove("a.ledger");
  EXPECT_EQ(measure(0, 0, false), "");
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

// Large tables come in pieces: here, the one of 16 cells in pieces of 4.
TEST_F(MeasureToFileTest, TablesInSlabsMakeTheSameFile) {
  MeasureRequest request = RequestFor(rows_.stream());
  request.options.counting.max_whole_cells = 4;
  MeasureToFile(request);
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed}));
  const MeasurementFile file("m.parquet");
  EXPECT_EQ(VerifyMeasurements(file), plan_.plan.pcost);
  const Measurements measurements = file.ReadAll();
  EXPECT_EQ(std::get<std::vector<int64_t>>(measurements.residuals.at({0, 1}).values).size(), 16u);

  ArrowRows again({{"0", {0, 1}}, {"1", {0, 0}}});
  MeasureRequest to_memory = RequestFor(again.stream());
  to_memory.options.counting.max_whole_cells = 4;
  to_memory.again = true;
  Ledger::Open("a.ledger").Grant(plan_.plan.pcost, "test");
  std::vector<NoisyResidual> residuals;
  MeasureToMemory(to_memory, &residuals);
  ASSERT_EQ(residuals.size(), 4u);
  EXPECT_EQ(std::get<std::vector<int64_t>>(residuals.back().values).size(), 16u);
}

// A plan that states less than its noise costs is refused by whatever measures.
TEST_F(MeasureToFileTest, VerifiesThePlanItself) {
  PlanFile forged = plan_;
  for (Rational& variance : forged.plan.variances) variance /= 4;
  MeasureRequest request{forged, {}, "m.parquet"};
  request.places.data.arrow = rows_.stream();
  request.places.ledger = "a.ledger";
  request.plan_name = "forged.json";
  std::vector<NoisyResidual> residuals;
  EXPECT_TRUE(Says(RefusalOf(request), "forged.json: the plan"));
  EXPECT_TRUE(Says(Refusal([&] { CheckMeasuring(request); }), "forged.json: the plan"));
  EXPECT_TRUE(
      Says(Refusal([&] { MeasureToMemory(request, &residuals); }), "forged.json: the plan"));
  EXPECT_TRUE(Kinds().empty());
}

// One process resumes an interrupted spend; while it reads, another resumes it too, and is done
// first.
TEST_F(MeasureToFileTest, TheSecondToResumeASpendIsRefused) {
  CutOff(RequestFor(rows_.stream()));
  ArrowRows first_rows({{"0", {0, 1}}, {"1", {0, 0}}});
  ArrowRows second_rows({{"0", {0, 1}}, {"1", {0, 0}}});
  MeasureRequest first = RequestFor(first_rows.stream());
  MeasureRequest second = RequestFor(second_rows.stream());
  first.resume = second.resume = true;
  std::string published;
  second.on_read = [&](const ReadReport&) {
    MeasureToFile(first);
    published = ReadFile("m.parquet");
  };
  EXPECT_TRUE(Says(RefusalOf(second), "another process made it while the data was read"));
  EXPECT_EQ(ReadFile("m.parquet"), published);
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed}));
  EXPECT_TRUE(TemporariesOf("m.parquet").empty());
}

TEST_F(MeasureToFileTest, ASpendInUseIsNotResumed) {
  ArrowRows other_rows({{"0", {0, 1}}, {"1", {0, 0}}});
  MeasureRequest other = RequestFor(other_rows.stream());
  other.resume = true;
  MeasureRequest request = RequestFor(rows_.stream());
  int num_calls = 0;
  int num_refused = 0;
  request.on_sets = [&](int64_t, int64_t) {
    ++num_calls;
    num_refused += Says(RefusalOf(other), "another residua is at work") ? 1 : 0;
  };
  MeasureToFile(request);
  EXPECT_GT(num_calls, 0);
  EXPECT_EQ(num_refused, num_calls);
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed}));
  EXPECT_EQ(VerifyMeasurements(MeasurementFile("m.parquet")), plan_.plan.pcost);
}

// Another process, where its locks cannot be seen, has continued the spend.
TEST_F(MeasureToFileTest, WhatCannotBeConfirmedIsNotPublished) {
  for (const char* taken : {"UPDATE entries SET temporary_file = 'm.parquet.X1y2Z3' WHERE id = 2",
                            "UPDATE entries SET kind = 'confirmed' WHERE id = 2"}) {
    ArrowRows rows({{"0", {0, 1}}, {"1", {0, 0}}});
    MeasureRequest request = RequestFor(rows.stream());
    request.on_reserved = [&] { Alter("a.ledger", taken); };
    EXPECT_TRUE(Says(RefusalOf(request), "entry 2 is no longer this measurement's"));
    EXPECT_FALSE(fs::exists("m.parquet"));
    EXPECT_TRUE(TemporariesOf("m.parquet").empty());
    fs::remove("a.ledger");
  }
}

TEST_F(MeasureToFileTest, AFileThatAppearsIsNotReplaced) {
  MeasureRequest request = RequestFor(rows_.stream());
  request.on_reserved = [&] { Write("m.parquet", "theirs"); };
  EXPECT_TRUE(Says(RefusalOf(request), "exists already"));
  EXPECT_EQ(ReadFile("m.parquet"), "theirs");
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kReserved}));
}

// Confirmed, and its process killed before the file had its name: it is put in place as it is.
TEST_F(MeasureToFileTest, WhatWasConfirmedIsPutInPlaceOnce) {
  MeasureToFile(RequestFor(rows_.stream()));
  const std::string measured = ReadFile("m.parquet");
  const std::string temporary = EntriesOf("a.ledger")[1].temporary;
  fs::rename("m.parquet", temporary);

  const MeasureRequest once = RequestFor(nullptr);  // no data is read
  EXPECT_TRUE(Says(RefusalOf(once), "it is complete: rename"));
  EXPECT_TRUE(Says(RefusalOf(once), temporary));
  MeasureRequest resumed = RequestFor(nullptr);
  resumed.resume = true;
  EXPECT_FALSE(CheckMeasuring(resumed).spends);
  const MeasureOutcome outcome = MeasureToFile(resumed);
  EXPECT_TRUE(outcome.was_measured);
  EXPECT_EQ(outcome.entry, 2);
  EXPECT_EQ(ReadFile("m.parquet"), measured);
  EXPECT_TRUE(TemporariesOf("m.parquet").empty());

  // If it was moved away, it is not measured again; no other file is taken for it, nor a damaged
  // one.
  fs::rename("m.parquet", "kept.parquet");
  EXPECT_TRUE(Says(RefusalOf(resumed), "but is gone"));
  fs::copy("kept.parquet", "m.parquet.Z9y8X7");
  EXPECT_TRUE(Says(RefusalOf(resumed), "but is gone"));
  Write(temporary, measured.substr(0, measured.size() / 2));
  EXPECT_NE(RefusalOf(resumed), "");
  EXPECT_FALSE(fs::exists("m.parquet"));
  EXPECT_EQ(Ledger::Open("a.ledger").CurrentBalance().spent, plan_.plan.pcost);
}

// Version 0.2 put a file in place before it confirmed the spend: if it is not there, it may have
// been moved away.
TEST_F(MeasureToFileTest, WhatAnOlderVersionReservedIsNotMeasuredForFree) {
  MeasureToFile(RequestFor(rows_.stream()));
  Alter("a.ledger", "UPDATE entries SET kind = 'reserved', temporary_file = '' WHERE id = 2");
  fs::rename("m.parquet", "moved.parquet");
  MeasureRequest request = RequestFor(nullptr);
  request.resume = true;
  EXPECT_TRUE(Says(RefusalOf(request), "forgive entry 2 of a.ledger"));
  fs::rename("moved.parquet", "m.parquet");
  EXPECT_TRUE(MeasureToFile(request).was_measured);
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed}));
}

TEST_F(MeasureToFileTest, ALedgerBesideTheDataIsNotBypassed) {
  Write("data.csv", "0,1\n0,0\n1,0\n");
  MeasureRequest request = RequestOfFile();
  EXPECT_EQ(MeasureToFile(request).ledger_beside, "");
  request.places.ledger = "other.ledger";
  request.places.names_ledger = true;
  request.output = "n.parquet";
  // It knows the plan, and what is left.
  EXPECT_TRUE(Says(RefusalOf(request), "data.csv.ledger: this plan was measured before"));
  request.again = true;
  EXPECT_TRUE(Says(RefusalOf(request), "data.csv.ledger: the budget does not allow it"));
  EXPECT_FALSE(fs::exists("other.ledger"));
  EXPECT_FALSE(fs::exists("n.parquet"));
  Ledger::Open("data.csv.ledger").Grant(plan_.plan.budget.pcost, "a test");
  EXPECT_EQ(MeasureToFile(request).ledger_beside, "data.csv.ledger");
  const LedgerEntry beside = EntriesOf("data.csv.ledger").back();
  EXPECT_EQ(beside.kind, Kind::kConfirmed);
  EXPECT_EQ(beside.pcost, plan_.plan.pcost);
  EXPECT_EQ(beside.note, "spent by the ledger " + fs::absolute("other.ledger").string());
  EXPECT_EQ(EntriesOf("other.ledger").back().kind, Kind::kConfirmed);
  // The same ledger by another name is the same ledger.
  fs::create_symlink("data.csv.ledger", "link.ledger");
  request.places.ledger = "link.ledger";
  Ledger::Open("data.csv.ledger").Grant(plan_.plan.budget.pcost, "a test");
  request.output = "o.parquet";
  EXPECT_EQ(MeasureToFile(request).ledger_beside, "");
}

TEST_F(MeasureToFileTest, CostsForOtherNeighboursAreRecordedBesideTheDataUncounted) {
  Write("data.csv", "0,1\n0,0\n1,0\n");
  Ledger::OpenOrCreate("data.csv.ledger", 1, "replace one row");
  MeasureRequest request = RequestOfFile();
  request.places.ledger = "other.ledger";
  request.places.names_ledger = true;
  MeasureToFile(request);
  const Ledger beside = Ledger::Open("data.csv.ledger");
  EXPECT_EQ(beside.CurrentBalance().spent, 0);
  EXPECT_EQ(beside.Entries().back().kind, Kind::kConfirmed);
  EXPECT_TRUE(
      Says(beside.Entries().back().note, "for other neighbours (\"add or remove one row\")"));
}

// Interrupted anywhere between two ledgers, a measurement continues under one spend in each.
TEST_F(MeasureToFileTest, TwoLedgersAgreeAfterACrash) {
  Write("data.csv", "0,1\n0,0\n1,0\n");
  Ledger::OpenOrCreate("data.csv.ledger", plan_.plan.budget.pcost, NeighboursInWords({}));
  MeasureRequest request = RequestOfFile();
  request.places.ledger = "other.ledger";
  request.places.names_ledger = true;
  CutOff(request);
  const auto expect_kinds = [](Kind beside, Kind other) {
    ASSERT_EQ(EntriesOf("data.csv.ledger").size(), 2u);
    ASSERT_EQ(EntriesOf("other.ledger").size(), 2u);
    EXPECT_EQ(EntriesOf("data.csv.ledger")[1].kind, beside);
    EXPECT_EQ(EntriesOf("other.ledger")[1].kind, other);
  };
  expect_kinds(Kind::kReserved, Kind::kReserved);
  // Before the second had it.
  fs::remove("other.ledger");
  request.resume = true;
  CutOff(request);
  expect_kinds(Kind::kReserved, Kind::kReserved);
  MeasureToFile(request);
  expect_kinds(Kind::kConfirmed, Kind::kConfirmed);
  // Between the two confirmations.
  const std::string measured = ReadFile("m.parquet");
  fs::rename("m.parquet", EntriesOf("other.ledger")[1].temporary);
  Alter("other.ledger", "UPDATE entries SET kind = 'reserved' WHERE id = 2");
  EXPECT_TRUE(MeasureToFile(request).was_measured);
  EXPECT_EQ(ReadFile("m.parquet"), measured);
  expect_kinds(Kind::kConfirmed, Kind::kConfirmed);
  // Lost between the two confirmations.
  fs::remove("m.parquet");
  Alter("other.ledger", "UPDATE entries SET kind = 'reserved' WHERE id = 2");
  EXPECT_TRUE(Says(RefusalOf(request), "but is gone"));
}

// The same data under a second name would have a second budget.
TEST_F(MeasureToFileTest, DataWithSeveralNamesNeedsANamedLedger) {
  Write("first.csv", "0,1\n0,0\n1,0\n");
  fs::create_hard_link("first.csv", "data.csv");
  MeasureRequest request = RequestOfFile();
  EXPECT_TRUE(Says(RefusalOf(request), "data.csv: the file has 2 names (hard links)"));
  EXPECT_FALSE(fs::exists("data.csv.ledger"));
  std::vector<NoisyResidual> residuals;
  EXPECT_NE(Refusal([&] { MeasureToMemory(request, &residuals); }), "");
  request.places.names_ledger = true;
  MeasureToFile(request);
  // Once the ledger exists, it is found.
  request.places.names_ledger = false;
  request.output = "n.parquet";
  EXPECT_TRUE(Says(RefusalOf(request), "this plan was measured before"));
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
