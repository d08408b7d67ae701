// Small files that claim to hold much: they are refused before memory is allocated for it.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/files/parquet_footer.h"
#include "residua/measure/measure.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

// A list of this many numbers takes 160 MB, and reading one took 700 MB.
constexpr int64_t kNumValues = 20'000'000;
constexpr int64_t kLittleMemory = 400'000'000;

struct Outcome {
  std::string message;  // of the Error, if there was one
  int64_t peak_bytes = 0;
};

// Of a process of its own.
Outcome RunApart(const std::function<void()>& work) {
  std::array<int, 2> pipe_ends{};
  EXPECT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string message;
    try {
      work();
    } catch (const std::exception& error) {
      message = error.what();
    }
    const ssize_t written = write(pipe_ends[1], message.data(), message.size());
    _exit(written == std::ssize(message) ? 0 : 1);
  }
  close(pipe_ends[1]);
  Outcome outcome;
  std::array<char, 4096> part{};
  ssize_t size = 0;
  while ((size = read(pipe_ends[0], part.data(), part.size())) > 0) {
    outcome.message.append(part.data(), static_cast<size_t>(size));
  }
  close(pipe_ends[0]);
  int status = 0;
  struct rusage usage = {};
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_EQ(status, 0);
  outcome.peak_bytes = int64_t{usage.ru_maxrss} * 1024;
  return outcome;
}

class HostileMeasurementsTest : public FolderTest {
 protected:
  HostileMeasurementsTest() {
    MeasurementWriter writer("good.parquet", plan_);
    for (const AttributeSet& set : MeasuredSets(plan_.plan)) {
      const std::vector<int64_t> values(static_cast<size_t>(NumCellsInMemory(domain(), set)), 3);
      writer.Write(
          {set, values, IntegerNoiseVariance(plan_.plan, set), ScaleBits(plan_.plan, set)});
    }
    writer.Finish();
  }

  const Domain& domain() const { return plan_.plan.domain; }

  // The good file with another query in place of its rows.
  static void Rewrite(const std::string& name, const std::string& select,
                      const std::string& options = "") {
    const Outcome made = RunApart([&] {
      DuckDbConnection reader = DuckDbConnection::InMemory("good.parquet", "good.parquet");
      std::string pairs;
      reader.Stream(
          "SELECT decode(key)::VARCHAR, decode(value)::VARCHAR FROM "
          "parquet_kv_metadata('good.parquet')",
          [&](const DuckDbChunk& chunk) {
            for (int64_t row = 0; row < chunk.num_rows(); ++row) {
              pairs += SqlName(TextOf(chunk.Values<duckdb_string_t>(0)[row])) + ": " +
                       SqlText(TextOf(chunk.Values<duckdb_string_t>(1)[row])) + ", ";
            }
          });
      Sql("", {"COPY (" + select + ") TO '" + name + "' (FORMAT parquet, COMPRESSION zstd, " +
               options + "KV_METADATA {" + pairs + "})"});
    });
    ASSERT_EQ(made.message, "");
    ASSERT_LT(std::filesystem::file_size(name), 100'000u);
  }

  static std::string Row(const std::string& attributes, const std::string& values) {
    return "SELECT 0::BIGINT AS \"set\", 0::BIGINT AS part, " + attributes + " AS attributes, " +
           values +
           " AS \"values\", []::DECIMAL(38,0)[] AS wide_values, '1' AS variance, "
           "'x' AS digest, 1::BIGINT AS scale";
  }

  static std::string ListOf(const std::string& value) {
    return "(SELECT list(" + value + ") FROM range(" + std::to_string(kNumValues) + "))";
  }

  static void ExpectRefused(const std::string& name, const std::string& message) {
    const Outcome outcome = RunApart([&] { VerifyMeasurements(MeasurementFile(name)); });
    EXPECT_EQ(outcome.message, name + ": " + message);
    EXPECT_LT(outcome.peak_bytes, kLittleMemory);
  }

  // Replaces a number of the footer, in as many bytes.
  static void Claim(const std::string& name, int64_t number, int64_t claimed) {
    std::string bytes = ReadFile(name);
    const std::string old_bytes = Varint(2 * static_cast<uint64_t>(number), 0);
    const size_t at = bytes.rfind(old_bytes);
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, old_bytes.size(),
                  Varint(2 * static_cast<uint64_t>(claimed), old_bytes.size()));
    WriteFileAtomically(name, bytes);
  }

  // As Thrift writes numbers, in at least that many bytes.
  static std::string Varint(uint64_t number, size_t num_bytes) {
    std::string bytes;
    while (number >= 128 || bytes.size() + 1 < num_bytes) {
      bytes += static_cast<char>(number % 128 + 128);
      number /= 128;
    }
    return bytes + static_cast<char>(number);
  }

  static constexpr const char* kTooMuch =
      "it claims to hold more than its plan measures; the file was changed or is not whole";

  const PlanFile plan_{
      Select(
          {ParseDomain("3,4"), {{{MarginalRule::Kind::kUpTo, 2}}, {}}, {}, BudgetFromPcost(1), {}}),
      {}};
};

TEST_F(HostileMeasurementsTest, TheGoodFileIsAccepted) {
  EXPECT_EQ(RunApart([] { VerifyMeasurements(MeasurementFile("good.parquet")); }).message, "");
  // Writing its rows again changes nothing.
  Rewrite("again.parquet", "SELECT * FROM read_parquet('good.parquet')");
  EXPECT_EQ(RunApart([] { VerifyMeasurements(MeasurementFile("again.parquet")); }).message, "");
}

TEST_F(HostileMeasurementsTest, LongListsAreNotDecoded) {
  Rewrite("values.parquet", Row("[]::VARCHAR[]", ListOf("0::BIGINT")));
  ExpectRefused("values.parquet", kTooMuch);
  Rewrite("names.parquet", Row("CAST(" + ListOf("''") + " AS VARCHAR[])", "[5]::BIGINT[]"));
  ExpectRefused("names.parquet", kTooMuch);
}

TEST_F(HostileMeasurementsTest, ManyRowsAreNotDecoded) {
  Rewrite("rows.parquet",
          "SELECT r.* FROM (" + Row("[]::VARCHAR[]", "[5]::BIGINT[]") + ") r, range(100000)");
  ExpectRefused("rows.parquet", kTooMuch);
}

// A page of 160 MB in a file whose footer says that it is small: DuckDB allocates as much as the
// page says, and only its own limit stops it.
TEST_F(HostileMeasurementsTest, APageLargerThanTheFooterSaysIsWithinTheLimitOfMemory) {
  Rewrite("lie.parquet", Row("[]::VARCHAR[]", ListOf("0::BIGINT")));
  Claim("lie.parquet", kNumValues, 5);
  const std::string lists = "SELECT \"values\" FROM read_parquet('lie.parquet')";
  const Outcome outcome = RunApart([&] {
    DuckDbConnection::InLittleMemory("lie.parquet", "lie.parquet", 64'000'000)
        .Stream(lists, [](const DuckDbChunk&) {});
  });
  EXPECT_NE(outcome.message.find("failed to allocate"), std::string::npos) << outcome.message;
  EXPECT_LT(outcome.peak_bytes, kLittleMemory);
}

// The footer's first list, its columns, claims five million of them, for which DuckDB would take
// 2 GB.
TEST_F(HostileMeasurementsTest, AFooterThatClaimsMoreThanItHoldsIsNotRead) {
  const std::string good = ReadFile("good.parquet");
  const auto* tail = reinterpret_cast<const unsigned char*>(good.data() + good.size() - 8);
  const size_t length = tail[0] + 256u * tail[1] + 65536u * tail[2];
  std::string footer = good.substr(good.size() - 8 - length, length);
  ASSERT_EQ(footer[2], '\x19');  // after the version: a list
  footer.replace(3, 1, "\xfc" + Varint(5'000'000, 0));
  std::string size(4, '\0');
  for (size_t k = 0; k < 4; ++k) size[k] = static_cast<char>(footer.size() >> (8 * k) & 255);
  WriteFileAtomically("footer.parquet",
                      good.substr(0, good.size() - 8 - length) + footer + size + "PAR1");
  ExpectRefused("footer.parquet", "the measurement file is not whole: get it again");
}

TEST_F(HostileMeasurementsTest, FootersCutShortAreRefused) {
  const std::string good = ReadFile("good.parquet");
  EXPECT_NO_THROW(CheckParquetFooter("good.parquet"));
  for (const size_t size : {size_t{0}, size_t{4}, size_t{8}, size_t{11}, good.size() - 1}) {
    WriteFileAtomically("cut.parquet", good.substr(0, size));
    EXPECT_THROW(CheckParquetFooter("cut.parquet"), Error) << size;
  }
  // A length beyond the file.
  WriteFileAtomically("cut.parquet", good.substr(0, good.size() - 8) + "\xff\xff\xff\x7fPAR1");
  EXPECT_THROW(CheckParquetFooter("cut.parquet"), Error);
}

// A plan of many values, written in few bytes: verifying it holds a row at a time.
TEST_F(HostileMeasurementsTest, VerifyingHoldsNoSetWhole) {
  const PlanFile plan{Select({ParseDomain("5000,4000"),
                              {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                              {},
                              BudgetFromPcost(1),
                              {}}),
                      {}};
  const Outcome made = RunApart([&] {
    MeasurementWriter writer("large.parquet", plan);
    for (const AttributeSet& set : MeasuredSets(plan.plan)) {
      const auto size = static_cast<size_t>(NumCellsInMemory(plan.plan.domain, set));
      writer.Write({set, std::vector<int64_t>(size), IntegerNoiseVariance(plan.plan, set),
                    ScaleBits(plan.plan, set)});
    }
    writer.Finish();
  });
  ASSERT_EQ(made.message, "");
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
