#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "residua/base/error.h"
#include "residua/data/data_source.h"
#include "residua/files/measurement_file.h"
#include "residua/release/measure_to_file.h"
#include "residua/select/select.h"
#include "residua/text/workload_text.h"
#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

class IdentifierTest : public testing::Test {
 protected:
  IdentifierTest() {
    std::string name = testing::TempDir() + "identifier_XXXXXX";
    folder_ = mkdtemp(name.data());
    Attribute visit;
    visit.name = "visit";
    visit.size = 8;
    domain_ = Domain({visit});
    protection_.identifier = "person";
  }
  ~IdentifierTest() override { fs::remove_all(folder_); }

  DataSource Source(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return {(folder_ / name).string(), "", ""};
  }

  std::string MessageOf(const DataSource& source) const {
    DeterministicBits bits(1);
    try {
      ReadEncodedTable(source, domain_, protection_, bits);
    } catch (const Error& error) {
      const std::string what = error.what();
      return what.substr(what.find(": ") + 2);
    }
    return "";
  }

  fs::path folder_;
  Domain domain_;
  Protection protection_;
};

// Ada has rows 0, 2, 3, 5; Bob 1; Cem 4 and 6.
constexpr const char* kVisits = "person,visit\nada,0\nbob,1\nada,2\nada,3\ncem,4\nada,5\ncem,6\n";

TEST_F(IdentifierTest, KeepsAFewRowsOfEach) {
  DeterministicBits bits(1);
  const DataSource source = Source("visits.csv", kVisits);
  std::set<std::set<int>> seen;
  for (int run = 0; run < 200; ++run) {
    protection_.max_rows = 2;
    const ReadResult read = ReadEncodedTable(source, domain_, protection_, bits);
    EXPECT_EQ(read.report.num_rows_read, 7);
    EXPECT_EQ(read.report.num_rows_over, 2);
    const auto& codes = std::get<std::vector<uint8_t>>(read.table.column(0));
    const std::set<int> visits(codes.begin(), codes.end());
    EXPECT_EQ(visits.size(), 5u);
    for (const int kept : {1, 4, 6}) EXPECT_TRUE(visits.contains(kept));
    seen.insert(visits);
  }
  EXPECT_EQ(seen.size(), 6u);  // all pairs of Ada's four
  protection_.max_rows = 4;
  EXPECT_EQ(ReadEncodedTable(source, domain_, protection_, bits).report.num_rows_over, 0);
}

TEST_F(IdentifierTest, IdentifiersMayBeNumbersAndComeFromJson) {
  DeterministicBits bits(2);
  protection_.max_rows = 1;
  const DataSource source = Source(
      "visits.json",
      R"([{"person": 7, "visit": 1}, {"person": 7, "visit": 2}, {"person": 8, "visit": 3}])");
  const ReadResult read = ReadEncodedTable(source, domain_, protection_, bits);
  EXPECT_EQ(read.table.num_rows(), 2);
  EXPECT_EQ(read.report.num_rows_over, 1);
}

// Stopping at it would tell that it is there.
TEST_F(IdentifierTest, ARowWithoutOneIsLeftOut) {
  DeterministicBits bits(3);
  protection_.max_rows = 2;
  const DataSource source = Source("a.csv", "person,visit\n,0\nada,1\n,2\n,3\nbob,9\nbob,4\n");
  domain_ = Domain({[&] {
    Attribute visit = domain_[0];
    visit.encoding.outside = OutsidePolicy::kDrop;
    return visit;
  }()});
  const ReadResult read = ReadEncodedTable(source, domain_, protection_, bits);
  EXPECT_EQ(std::get<std::vector<uint8_t>>(read.table.column(0)), (std::vector<uint8_t>{1, 4}));
  EXPECT_EQ(read.report.num_rows_read, 6);
  EXPECT_EQ(read.report.num_rows_without_identifier, 3);
  EXPECT_EQ(read.report.num_rows_dropped, 1);
  EXPECT_EQ(read.report.num_rows_over, 0);
  EXPECT_EQ(NotesOf(read.report, domain_)[0],
            "rows left out, without an identifier: 3 (a true count: not for publication)");
  EXPECT_EQ(SurveyTable(source, domain_, protection_).num_rows_without_identifier, 3);
}

TEST_F(IdentifierTest, AColumnThatIsNotThereIsNamed) {
  EXPECT_EQ(MessageOf(Source("b.csv", "who,visit\nada,1\n")),
            "no column 'person'; it has who, visit: rename or remove privacy.identifier");
}

// A measurement that was interrupted after its spend is finished under the same spend; one that is
// complete is left alone.
TEST_F(IdentifierTest, AMeasurementIsResumedUnderItsSpend) {
  const DataSource source = Source("visits.csv", kVisits);
  protection_.max_rows = 2;
  const PlanFile file{
      Select({domain_, {ParseMarginalRules("<=1"), {}}, {}, BudgetFromPcost(1), protection_}), {}};
  const DataPlaces places{source, folder_ / "ledger"};
  const fs::path output = folder_ / "m.parquet";
  Ledger::Spend spend = SpendOf(file, output);
  spend.temporary = "m.parquet.a1B2c3";
  const int64_t reserved =
      Ledger::OpenOrCreate(places.ledger, 1, NeighboursInWords(protection_)).Reserve(spend);
  std::ofstream(folder_ / spend.temporary) << "cut off";

  MeasureRequest request{file, places, output};
  EXPECT_THROW(MeasureToFile(request), Error);  // measured before
  request.resume = true;
  const MeasureOutcome outcome = MeasureToFile(request);
  EXPECT_EQ(outcome.entry, reserved);
  EXPECT_FALSE(outcome.was_measured);
  EXPECT_EQ(outcome.balance.spent, file.plan.pcost);
  EXPECT_FALSE(fs::exists(folder_ / spend.temporary));
  EXPECT_EQ(VerifyMeasurements(MeasurementFile(output)), file.plan.pcost);

  const MeasureOutcome again = MeasureToFile(request);
  EXPECT_TRUE(again.was_measured);
  EXPECT_EQ(again.entry, reserved);
  EXPECT_EQ(again.balance.spent, file.plan.pcost);
  // If it is lost, it is not silently measured again.
  fs::remove(output);
  EXPECT_THROW(MeasureToFile(request), Error);
}

}  // namespace
}  // namespace residua
