#include "residua/files/measurement_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/measure/measure.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

class MeasurementFileTest : public testing::Test {
 protected:
  MeasurementFileTest() {
    std::string name = testing::TempDir() + "measurement_XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "m.parquet";
  }
  ~MeasurementFileTest() override { fs::remove_all(folder_); }

  static PlanFile MakePlan(const std::string& domain, const char* pcost) {
    return {Select({ParseDomain(domain),
                    {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                    {},
                    BudgetFromPcost(ParseRational(pcost, "pcost")),
                    {}}),
            {"people.csv", "", "", "people.csv.ledger"}};
  }

  // Measures a table of two rows, all zeros and all ones.
  std::map<AttributeSet, NoisyResidual> WriteMeasurement(const PlanFile& plan) {
    std::vector<CodeColumn> columns;
    for (const Attribute& attribute : plan.plan.domain.attributes()) {
      CodeColumn column = EmptyCodeColumn(attribute);
      std::visit([](auto& codes) { codes = {0, 1}; }, column);
      columns.push_back(std::move(column));
    }
    MeasurementWriter writer(path_, plan);
    std::map<AttributeSet, NoisyResidual> written;
    Measure(plan.plan, EncodedTable(plan.plan.domain, std::move(columns)), {},
            [&](NoisyResidual&& residual) {
              writer.Write(residual);
              const AttributeSet set = residual.attributes;
              written.emplace(set, std::move(residual));
            });
    writer.Finish();
    return written;
  }

  fs::path folder_;
  fs::path path_;
};

TEST_F(MeasurementFileTest, ReadsBackIdentical) {
  // Narrow and wide values, sets of one row and of several.
  for (const auto& [domain, pcost] :
       {std::pair{"100,120,3", "1"}, std::pair{"100,120,3", "1e-28"}, std::pair{"2,3", "8"}}) {
    const PlanFile plan = MakePlan(domain, pcost);
    const auto written = WriteMeasurement(plan);
    const MeasurementFile file(path_);
    EXPECT_EQ(file.plan_file(), plan);
    const Measurements read = file.ReadAll();
    ASSERT_EQ(read.residuals.size(), written.size());
    for (const auto& [set, residual] : written) {
      EXPECT_EQ(read.residuals.at(set).values, residual.values);
      EXPECT_EQ(read.residuals.at(set).noise_variance, residual.noise_variance);
      EXPECT_EQ(read.residuals.at(set).scale_bits, residual.scale_bits);
      EXPECT_EQ(residual.scale_bits, ScaleBits(plan.plan, set));
    }
    EXPECT_EQ(VerifyMeasurements(file), plan.plan.pcost);
  }
}

// A folder set=7 is not a column, and [1] is not a pattern.
TEST_F(MeasurementFileTest, NothingIsReadFromItsName) {
  const PlanFile plan = MakePlan("3,4", "1");
  WriteMeasurement(plan);
  for (const char* name : {"set=7", "variance=1", "a[1]", "b*", "c?"}) {
    const fs::path moved = folder_ / name / fmt::format("m{}.parquet", name);
    fs::create_directories(moved.parent_path());
    fs::copy_file(path_, moved);
    EXPECT_EQ(VerifyMeasurements(MeasurementFile(moved)), plan.plan.pcost) << name;
  }
}

TEST_F(MeasurementFileTest, NothingIsThereUntilItIsComplete) {
  {
    MeasurementWriter writer(path_, MakePlan("3,4", "1"));
    writer.Write({{}, std::vector<int64_t>{5}, 1});
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(MeasurementFileTest, MissingSetsAreNoticed) {
  const PlanFile plan = MakePlan("3,4", "1");
  {
    MeasurementWriter writer(path_, plan);
    writer.Write({{}, std::vector<int64_t>{5}, plan.plan.variances[0], plan.plan.scale_bits[0]});
    writer.Finish();
  }
  EXPECT_THROW(MeasurementFile(path_).ReadAll(), Error);
}

TEST_F(MeasurementFileTest, NoiseOtherThanThePlansIsRefused) {
  const PlanFile plan = MakePlan("3,4", "1");
  MeasurementWriter writer(path_, plan);
  writer.Write({{}, std::vector<int64_t>{5}, plan.plan.variances[0] / 2, plan.plan.scale_bits[0]});
  writer.Finish();
  try {
    VerifyMeasurements(MeasurementFile(path_));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
  }
}

// Every byte flipped in turn (a sample of them): never a crash, and never other values than were
// written.
TEST_F(MeasurementFileTest, DamageIsNoticedOrHarmless) {
  const auto written = WriteMeasurement(MakePlan("5,4", "1"));
  const std::string good = ReadFile(path_);
  const fs::path bad = folder_ / "bad.parquet";
  int refused = 0;
  const auto try_read = [&] {
    try {
      const Measurements read = MeasurementFile(bad).ReadAll();
      for (const auto& [set, residual] : written)
        EXPECT_EQ(read.residuals.at(set).values, residual.values);
    } catch (const Error&) {
      ++refused;
    }
  };
  for (size_t at = 4; at < good.size(); at += 61) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    WriteFileAtomically(bad, changed);
    try_read();
  }
  for (size_t size = 0; size < good.size(); size += 97) {
    WriteFileAtomically(bad, good.substr(0, size));
    try_read();
  }
  EXPECT_GT(refused, 60);
}

}  // namespace
}  // namespace residua
