#include "residua/release/release_folder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/release/release.h"
#include "residua/select/plan_errors.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

namespace fs = std::filesystem;
using Kind = LedgerEntry::Kind;

class ReleaseFolderTest : public FolderTest {
 protected:
  ReleaseFolderTest() {
    WriteSpec("0.5");
    Write("people.csv", "age,sex\n3,f\n4,m\n9,m\n");
  }

  static void WriteSpec(const std::string& rho) {
    Write("spec.toml",
          "[data]\nsource = \"people.csv\"\n[privacy]\nrho = " + rho +
              "\n[attributes.age]\nintegers = [0, 9]\n[attributes.sex]\nvalues = [\"f\", \"m\"]\n"
              "[workload]\nmarginals = \"<=2\"\n");
  }

  static std::vector<Kind> Kinds() {
    std::vector<Kind> kinds;
    for (const LedgerEntry& entry : Ledger::Open("people.csv.ledger").Entries()) {
      kinds.push_back(entry.kind);
    }
    return kinds;
  }

  // The error's kind and message; an empty message if there is none.
  static std::pair<ErrorKind, std::string> Refusal(const ReleaseRequest& request) {
    try {
      MakeRelease(request);
    } catch (const Error& error) {
      return {error.kind(), error.what()};
    }
    return {ErrorKind::kBroken, ""};
  }

  // What is in the folder, with what it holds.
  static std::vector<std::pair<std::string, std::string>> Contents(const std::string& folder) {
    std::vector<std::pair<std::string, std::string>> contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      contents.emplace_back(entry.path().string(),
                            entry.is_regular_file() ? ReadFile(entry.path()) : "");
    }
    std::sort(contents.begin(), contents.end());
    return contents;
  }
};

TEST_F(ReleaseFolderTest, MakesAWholeRelease) {
  ReleaseRequest request = RequestReleaseOf("spec.toml", "out");
  std::vector<ReleaseForecast> forecasts;
  request.confirm = [&](const ReleaseForecast& forecast) {
    EXPECT_FALSE(fs::exists("out"));
    EXPECT_FALSE(fs::exists("people.csv.ledger"));
    forecasts.push_back(forecast);
    return true;
  };
  const ReleaseOutcome outcome = MakeRelease(request);
  for (const fs::path& file : {outcome.folder.plan, outcome.folder.measurements,
                               outcome.folder.summary, fs::path("out/tables/age_x_sex.csv")}) {
    EXPECT_TRUE(fs::exists(file)) << file;
  }
  EXPECT_EQ(outcome.tables.num_tables, 4);
  EXPECT_EQ(outcome.tables.num_answers, 1 + 10 + 2 + 20);
  EXPECT_FALSE(outcome.measured.was_measured);
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed}));
  EXPECT_EQ(Release::Load("out/measurements.parquet")->plan(), outcome.plan.plan);

  ASSERT_EQ(forecasts.size(), 1u);
  const ReleaseForecast& forecast = forecasts.front();
  EXPECT_EQ(forecast.pcost, outcome.plan.plan.pcost);
  EXPECT_EQ(forecast.ledger, outcome.places.ledger);
  EXPECT_FALSE(forecast.balance);
  EXPECT_TRUE(forecast.query.operations.empty());
  double largest = 0;
  for (const TableErrors& table : PredictErrors(outcome.plan.plan)) {
    largest = std::max(largest, std::sqrt(table.max_variance));
  }
  EXPECT_EQ(forecast.errors.largest_std_dev, largest);
  EXPECT_GT(forecast.errors.rms_std_dev, 0);
  EXPECT_LE(forecast.errors.rms_std_dev, largest);
}

TEST_F(ReleaseFolderTest, FilesOfOthersAreRefusedBeforeAnythingIsSpent) {
  const ReleaseRequest request = RequestReleaseOf("spec.toml", "out");
  WritePlan("plan.json", {Select(RequestOf(request.spec)), {}});
  for (const char* name : {"out/index.html", "out/summary.md"}) {
    fs::create_directory("out");
    fs::copy_file("plan.json", "out/plan.json");
    Write(name, "theirs");
    EXPECT_NE(Refusal(request).second.find("is not overwritten"), std::string::npos);
    EXPECT_EQ(ReadFile(name), "theirs");
    EXPECT_FALSE(fs::exists("people.csv.ledger"));
    fs::remove_all("out");
  }
}

TEST_F(ReleaseFolderTest, AnInterruptedReleaseContinuesWithoutSpendingTwice) {
  ReleaseRequest request = RequestReleaseOf("spec.toml", "out");
  request.on_sets = [](int64_t, int64_t) { Fail(ErrorKind::kIo, "the disk is full"); };
  EXPECT_NE(Refusal(request).second.find("stays reserved"), std::string::npos);
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kReserved}));
  EXPECT_TRUE(fs::exists("out/plan.json"));

  request.on_sets = {};
  request.confirm = [](const ReleaseForecast&) -> bool { throw std::runtime_error("was asked"); };
  EXPECT_FALSE(MakeRelease(request).measured.was_measured);
  EXPECT_EQ(Kinds(), (std::vector<Kind>{Kind::kGrant, Kind::kConfirmed}));

  // Complete: the tables are made again, from the same measurements.
  const auto contents = Contents("out");
  fs::remove_all("out/tables");
  request.on_read = [](const ReadReport&) { throw std::runtime_error("was read"); };
  EXPECT_TRUE(MakeRelease(request).measured.was_measured);
  EXPECT_EQ(Contents("out"), contents);
}

TEST_F(ReleaseFolderTest, DeclinedLeavesNothingBehind) {
  ReleaseRequest request = RequestReleaseOf("spec.toml", "deep/out");
  request.confirm = [](const ReleaseForecast&) { return false; };
  EXPECT_EQ(Refusal(request),
            std::pair(ErrorKind::kRefused, std::string("nothing was spent, nothing was written")));
  EXPECT_FALSE(fs::exists("deep"));
  EXPECT_FALSE(fs::exists("people.csv.ledger"));
}

TEST_F(ReleaseFolderTest, DataThatDoesNotFitLeavesNothingBehind) {
  Write("people.csv", "age,sex\n3,f\n10,m\n");
  const auto [kind, message] = Refusal(RequestReleaseOf("spec.toml", "out"));
  EXPECT_EQ(kind, ErrorKind::kBadInput);
  EXPECT_NE(message.find("outside 0..9"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists("out"));
  EXPECT_FALSE(fs::exists("people.csv.ledger"));
}

TEST_F(ReleaseFolderTest, TakesNoFolderOfOthers) {
  fs::create_directory("letters");
  Write("letters/a.txt", "Dear");
  EXPECT_EQ(Refusal(RequestReleaseOf("spec.toml", "letters")),
            std::pair(ErrorKind::kRefused,
                      std::string("letters: exists and is not a release of residua; choose another "
                                  "place, or empty it")));
  EXPECT_EQ(Refusal(RequestReleaseOf("spec.toml", "people.csv")),
            std::pair(ErrorKind::kRefused,
                      std::string("people.csv: exists and is not a folder; choose another place")));
  MakeRelease(RequestReleaseOf("spec.toml", "out"));
  const auto contents = Contents("out");
  WriteSpec("0.25");
  EXPECT_EQ(Refusal(RequestReleaseOf("spec.toml", "out")),
            std::pair(ErrorKind::kRefused,
                      std::string("out: holds the release of another plan; choose another place "
                                  "for a new release, or put the spec back as it was to continue "
                                  "this one")));
  EXPECT_EQ(Contents("out"), contents);
}

// Every byte that the files of a folder hold, also those that Parquet compresses.
class PublishableTest : public ReleaseFolderTest {
 protected:
  static std::string AllBytes(const std::string& folder) {
    std::string bytes;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      bytes += entry.path().filename().string() + "\n";
      if (!entry.is_regular_file()) continue;
      bytes += ReadFile(entry.path());
      if (entry.path().extension() == ".parquet") bytes += Decompressed(entry.path());
    }
    return bytes;
  }

  static std::string Decompressed(const fs::path& path) {
    const std::string quoted = "'" + path.string() + "'";
    Sql("", {"COPY (SELECT * FROM read_parquet(" + quoted + ")) TO 'rows.csv'",
             "COPY (SELECT decode(key), decode(value) FROM parquet_kv_metadata(" + quoted +
                 ")) TO 'metadata.csv'"});
    return ReadFile("rows.csv") + ReadFile("metadata.csv");
  }
};

TEST_F(PublishableTest, NoFileSaysWhereTheDataIsOrWhatWasRun) {
  fs::create_directories("home_of_jdoe");
  Sql("home_of_jdoe/clinic_42.duckdb",
      {"CREATE TABLE visits AS SELECT 3 AS age, 'f' AS sex, 'x' AS secret_column"});
  Write("spec.toml",
        "[data]\ndatabase = \"home_of_jdoe/clinic_42.duckdb\"\n"
        "query = \"SELECT age, sex FROM visits WHERE secret_column = 'x'\"\n"
        "ledger = \"budget_of_jdoe.ledger\"\nnull_values = [\"NA\"]\n[privacy]\nrho = 0.5\n"
        "[attributes.age]\nintegers = [0, 9]\n[attributes.sex]\nvalues = [\"f\", \"m\"]\n"
        "[workload]\nmarginals = \"<=2\"\n");
  ReleaseRequest request = RequestReleaseOf("spec.toml", "out");
  request.format = TableFormat::kParquet;
  // Interrupted, and then resumed.
  request.on_sets = [](int64_t, int64_t) { Fail(ErrorKind::kIo, "the disk is full"); };
  EXPECT_NE(Refusal(request).second.find("stays reserved"), std::string::npos);
  request.on_sets = {};
  EXPECT_FALSE(MakeRelease(request).names_data);
  const std::string bytes = AllBytes("out");
  EXPECT_NE(bytes.find("residua-measurements"), std::string::npos);
  for (const std::string& secret :
       {fs::current_path().string(), std::string("jdoe"), std::string("clinic_42"),
        std::string("secret_column"), std::string("SELECT"), std::string("spec.toml"),
        std::string("budget_of"), std::string(".ledger")}) {
    EXPECT_EQ(bytes.find(secret), std::string::npos) << secret;
  }
  // What texts mean is part of the domain: who reads the data by this plan reads it alike.
  const std::vector<std::string> null_values = {"NA"};
  EXPECT_EQ(ReadPlan("out/plan.json").data.null_values, null_values);
  EXPECT_EQ(MeasurementFile("out/measurements.parquet").plan_file().data.null_values, null_values);
}

// Folders of earlier versions name the data. Their files stay as they are, which is reported.
TEST_F(PublishableTest, AFolderOfAnEarlierVersionIsResumed) {
  const ReleaseOutcome outcome = MakeRelease(RequestReleaseOf("spec.toml", "out"));
  const PlanFile named{outcome.plan.plan, {"../people.csv", "", "", ""}};
  const auto release = Release::Load("out/measurements.parquet");
  fs::remove("out/measurements.parquet");
  MeasurementWriter writer("out/measurements.parquet", named);
  for (const NoisyResidual& residual : release->residuals()) writer.Write(residual);
  writer.Finish();
  WritePlan("out/plan.json", named);
  EXPECT_NE(AllBytes("out").find("people.csv"), std::string::npos);

  const ReleaseOutcome resumed = MakeRelease(RequestReleaseOf("spec.toml", "out"));
  EXPECT_TRUE(resumed.measured.was_measured);
  EXPECT_TRUE(resumed.names_data);
  EXPECT_EQ(ReadPlan("out/plan.json"), named);
  EXPECT_EQ(MeasurementFile("out/measurements.parquet").plan_file(), named);
}

// Interrupted before anything was measured, such a folder becomes one of this version.
TEST_F(PublishableTest, APlanOfAnEarlierVersionIsMeasuredWithoutItsData) {
  ReleaseRequest request = RequestReleaseOf("spec.toml", "out");
  request.on_sets = [](int64_t, int64_t) { Fail(ErrorKind::kIo, "the disk is full"); };
  Refusal(request);
  WritePlan("out/plan.json", {ReadPlan("out/plan.json").plan, {"../people.csv", "", "", ""}});
  request.on_sets = {};
  EXPECT_FALSE(MakeRelease(request).names_data);
  EXPECT_EQ(AllBytes("out").find("people.csv"), std::string::npos);
}

TEST_F(ReleaseFolderTest, NeedsABudgetAndData) {
  ReleaseRequest request = RequestReleaseOf("spec.toml", "out");
  request.spec.data = {};
  EXPECT_EQ(Refusal(request).second, "spec.toml: [data] names no source; add source = \"FILE\"");
  request.spec.target.reset();
  request.spec_name.clear();
  EXPECT_EQ(Refusal(request).second,
            "[privacy] sets no budget; give epsilon and delta, rho, mu or pcost");
  EXPECT_FALSE(fs::exists("out"));
}

}  // namespace
}  // namespace residua
