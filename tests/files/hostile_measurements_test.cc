// Files of format 2 that someone changed and gave new digests, and small files that claim to hold
// much: they are refused, before memory is allocated for what they claim.

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/files/parquet/parquet_reader.h"
#include "residua/files/parquet/thrift.h"
#include "residua/measure/measure.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/fixtures/folder_test.h"
#include "tests/fixtures/resealed.h"
#include "tests/fixtures/run_apart.h"

namespace residua {
namespace {

constexpr int64_t kLittleMemory = 200'000'000;

PlanFile PlanOf(const std::string& domain) {
  return {Select({ParseDomain(domain),
                  {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                  {},
                  BudgetFromPcost(1),
                  {}}),
          {}};
}

void WriteValues(const std::string& name, const PlanFile& plan, int64_t value) {
  MeasurementWriter writer(name, plan);
  for (const AttributeSet& set : MeasuredSets(plan.plan)) {
    const auto size = static_cast<size_t>(NumCellsInMemory(plan.plan.domain, set));
    writer.Write(NoisyResidual{set, std::vector<int64_t>(size, value),
                               IntegerNoiseVariance(plan.plan, set), ScaleBits(plan.plan, set)});
  }
  writer.Finish();
}

class HostileMeasurementsTest : public FolderTest {
 protected:
  HostileMeasurementsTest() { WriteValues("good.parquet", plan_, 3); }

  // The file with these bytes, and digests that fit them: Verify's message.
  static std::string MessageOfSealed(const std::string& bytes) {
    WriteFileAtomically("bad.parquet", bytes, FileKind::kAnything);
    const Outcome outcome = RunApart([] {
      WriteFileAtomically("bad.parquet", Resealed("bad.parquet"), FileKind::kAnything);
      VerifyMeasurements(MeasurementFile("bad.parquet"));
    });
    EXPECT_LT(outcome.peak_bytes, kLittleMemory);
    return outcome.message;
  }

  // Replaces the footer.
  static std::string WithFooter(const std::string& file, const std::string& footer) {
    std::string size(4, '\0');
    for (size_t k = 0; k < 4; ++k) size[k] = static_cast<char>(footer.size() >> (8 * k) & 255);
    const auto begin = static_cast<size_t>(ReadParquetFooter(OpenBytes("good.parquet")).offset);
    return file.substr(0, begin) + footer + size + "PAR1";
  }

  const PlanFile plan_ = PlanOf("3,4");
};

TEST_F(HostileMeasurementsTest, TheGoodFileIsAccepted) {
  EXPECT_EQ(RunApart([] { VerifyMeasurements(MeasurementFile("good.parquet")); }).message, "");
  EXPECT_EQ(MessageOfSealed(ReadFile("good.parquet")), "");
}

// Every byte of the rows, with digests that fit: what is not a value is noticed.
TEST_F(HostileMeasurementsTest, RowsThatSayOtherThanThePlanAreRefused) {
  const std::string good = ReadFile("good.parquet");
  const ParquetFooter footer = ReadParquetFooter(OpenBytes("good.parquet"));
  const auto values = static_cast<size_t>(footer.row_groups[0].chunks[4].offset);
  const auto wide_values = static_cast<size_t>(footer.row_groups[0].chunks[5].offset);
  const Measurements read = MeasurementFile("good.parquet").ReadAll();
  int accepted = 0;
  for (size_t at = 4; at < static_cast<size_t>(footer.offset); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    WriteFileAtomically("bad.parquet", bad, FileKind::kAnything);
    WriteFileAtomically("bad.parquet", Resealed("bad.parquet"), FileKind::kAnything);
    try {
      VerifyMeasurements(MeasurementFile("bad.parquet"));
      ++accepted;
      // Values, or what the format leaves open: how a column is told to be encoded elsewhere.
      const bool is_value = at >= values && at < wide_values;
      if (is_value) continue;
      const Measurements same = MeasurementFile("bad.parquet").ReadAll();
      for (const auto& [set, residual] : read.residuals) {
        EXPECT_EQ(same.residuals.at(set).values, residual.values) << at;
      }
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kBroken) << at;
    }
  }
  EXPECT_LT(accepted, 100);
}

TEST_F(HostileMeasurementsTest, MoreRowsThanThePlanMeasuresAreRefused) {
  const std::string good = ReadFile("good.parquet");
  std::string footer = ReadParquetFooter(OpenBytes("good.parquet")).bytes;
  // All 20 rows, wherever they are counted, become 2^40.
  std::string more;
  AppendVarint(ZigZag(uint64_t{1} << 40), &more);
  for (size_t at = 0; (at = footer.find("\x16\x28", at)) != std::string::npos; at += more.size()) {
    footer.replace(at + 1, 1, more);
  }
  EXPECT_EQ(MessageOfSealed(WithFooter(good, footer)),
            "bad.parquet: it claims to hold more than its plan measures; the file was changed or "
            "is not whole");
}

// The plan of another file, with many more values and sets.
TEST_F(HostileMeasurementsTest, APlanOfMoreThanTheFileHoldsIsRefused) {
  for (const char* domain : {"60000,60000", "2*2000"}) {
    const PlanFile plan = PlanOf(domain);
    ParquetFooter footer = ReadParquetFooter(OpenBytes("good.parquet"));
    const std::string old_plan = PlanToJson(plan_);
    const std::string new_plan = PlanToJson(plan);
    std::string old_size, new_size;
    AppendVarint(old_plan.size(), &old_size);
    AppendVarint(new_plan.size(), &new_size);
    const size_t at = footer.bytes.find(old_size + old_plan);
    ASSERT_NE(at, std::string::npos);
    footer.bytes.replace(at, old_size.size() + old_plan.size(), new_size + new_plan);
    const std::string message = MessageOfSealed(WithFooter(ReadFile("good.parquet"), footer.bytes));
    EXPECT_EQ(message, "bad.parquet: values are missing; the file was changed or is not whole")
        << domain;
  }
}

// The footer's first list, its columns, claims five million of them.
TEST_F(HostileMeasurementsTest, AFooterThatClaimsMoreThanItHoldsIsNotRead) {
  std::string footer = ReadParquetFooter(OpenBytes("good.parquet")).bytes;
  ASSERT_EQ(footer[2], '\x19');  // after the version: a list
  std::string count;
  AppendVarint(5'000'000, &count);
  footer.replace(3, 1, "\xfc" + count);
  EXPECT_EQ(MessageOfSealed(WithFooter(ReadFile("good.parquet"), footer)),
            "bad.parquet: the measurement file is not whole: get it again");
}

TEST_F(HostileMeasurementsTest, FootersCutShortAreRefused) {
  const std::string good = ReadFile("good.parquet");
  EXPECT_NO_THROW(ReadParquetFooter(OpenBytes("good.parquet")));
  for (const size_t size : {size_t{0}, size_t{4}, size_t{8}, size_t{11}, good.size() - 1}) {
    WriteFileAtomically("cut.parquet", good.substr(0, size), FileKind::kAnything);
    EXPECT_THROW(ReadParquetFooter(OpenBytes("cut.parquet")), Error) << size;
  }
  // A length beyond the file.
  WriteFileAtomically("cut.parquet", good.substr(0, good.size() - 8) + "\xff\xff\xff\x7fPAR1",
                      FileKind::kAnything);
  EXPECT_THROW(ReadParquetFooter(OpenBytes("cut.parquet")), Error);
}

// A plan of many values, written in few bytes: verifying it holds a row group at a time.
TEST_F(HostileMeasurementsTest, VerifyingHoldsNoSetWhole) {
  const PlanFile plan = PlanOf("5000,4000");
  ASSERT_EQ(RunApart([&] { WriteValues("large.parquet", plan, 0); }).message, "");
  const auto peak_of = [](const std::function<void(const MeasurementFile&)>& read) {
    const Outcome outcome = RunApart([&] { read(MeasurementFile("large.parquet")); });
    EXPECT_EQ(outcome.message, "");
    return outcome.peak_bytes;
  };
  const int64_t whole =
      peak_of([](const MeasurementFile& file) { file.ForEach([](NoisyResidual&&) {}); });
  const int64_t verified = peak_of([](const MeasurementFile& file) { VerifyMeasurements(file); });
  EXPECT_LT(verified, whole - 100'000'000);  // of the 160 MB that the largest set takes
}

}  // namespace
}  // namespace residua
