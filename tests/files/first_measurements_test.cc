// Files of format 1, which residua up to 0.4 wrote: they are read as before, and small ones that
// claim to hold much are refused before memory is allocated for it.

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/files/digest.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/files/measurement_layout.h"
#include "residua/measure/measure.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/fixtures/folder_test.h"
#include "tests/fixtures/run_apart.h"

namespace residua {
namespace {

// A list of this many numbers takes 160 MB, and reading one took 700 MB.
constexpr int64_t kNumValues = 20'000'000;
constexpr int64_t kLittleMemory = 400'000'000;

class FirstMeasurementsTest : public FolderTest {
 protected:
  FirstMeasurementsTest() { WriteFirst("good.parquet"); }

  // The plan of format 1 of a small domain.
  static PlanFile FirstPlan() {
    PlanFile file{Select({ParseDomain("3,4"),
                          {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                          {},
                          BudgetFromPcost(1),
                          {}}),
                  {}};
    file.plan.scale_bits.clear();
    file.plan.mu2.reset();
    return file;
  }

  static std::string Metadata(const PlanFile& plan) {
    std::string pairs;
    for (const auto& [key, value] : std::initializer_list<std::pair<std::string, std::string>>{
             {"residua_format", "residua-measurements"},
             {"residua_version", "1"},
             {"residua_tool", "residua 0.4.0"},
             {"residua_neighbours", NeighboursInWords(plan.plan.protection)},
             {"residua_guarantee", InWords(StatedGuarantee(plan.plan))},
             {"residua_plan", PlanToJson(plan)}}) {
      pairs += SqlName(key) + ": " + SqlText(value) + ", ";
    }
    return pairs;
  }

  // As 0.4 did: one row per set, all of whose values are 3 or, `wide`, do not fit 64 bits.
  void WriteFirst(const std::string& name, bool wide = false) const {
    const std::string plan_digest = Sha256(PlanToJson(plan_));
    std::string rows;
    int64_t number = 0;
    for (const AttributeSet& set : MeasuredSets(plan_.plan)) {
      const auto size = static_cast<size_t>(NumCellsInMemory(domain(), set));
      const std::string variance = ToString(IntegerNoiseVariance(plan_.plan, set));
      std::string text = fmt::format("{}|{}|0|{}|", plan_digest, number, variance);
      std::string names;
      for (const int i : set) {
        text += fmt::format("{}:{}|", domain()[i].name.size(), domain()[i].name);
        names += (names.empty() ? "" : ", ") + SqlText(domain()[i].name);
      }
      const std::vector<int64_t> values(size, 3);
      const std::vector<Int128> wide_values(size, Int128{3} << 64);
      if (wide) {
        text.append(reinterpret_cast<const char*>(wide_values.data()), size * sizeof(Int128));
      } else {
        text.append(reinterpret_cast<const char*>(values.data()), size * sizeof(int64_t));
      }
      std::string list;
      for (size_t k = 0; k < size; ++k) {
        list += fmt::format("{}{}", k > 0 ? ", " : "", wide ? "55340232221128654848" : "3");
      }
      rows += fmt::format(
          "{}SELECT {}::BIGINT AS \"set\", 0::BIGINT AS part, [{}]::VARCHAR[] AS attributes, "
          "[{}]::BIGINT[] AS \"values\", [{}]::DECIMAL(38,0)[] AS wide_values, {} AS variance, {} "
          "AS digest",
          rows.empty() ? "" : " UNION ALL ", number++, names, wide ? "" : list, wide ? list : "",
          SqlText(variance), SqlText(Sha256(text)));
    }
    Sql("", {"COPY (" + rows + ") TO '" + name + "' (FORMAT parquet, KV_METADATA {" +
             Metadata(plan_) + "})"});
  }

  const Domain& domain() const { return plan_.plan.domain; }

  // The good file with another query in place of its rows.
  static void Rewrite(const std::string& name, const std::string& select,
                      const std::string& options = "") {
    const Outcome made = RunApart([&] {
      Sql("", {"COPY (" + select + ") TO '" + name + "' (FORMAT parquet, COMPRESSION zstd, " +
               options + "KV_METADATA {" + Metadata(FirstPlan()) + "})"});
    });
    ASSERT_EQ(made.message, "");
    ASSERT_LT(std::filesystem::file_size(name), 100'000u);
  }

  static std::string Row(const std::string& attributes, const std::string& values) {
    return "SELECT 0::BIGINT AS \"set\", 0::BIGINT AS part, " + attributes + " AS attributes, " +
           values +
           " AS \"values\", []::DECIMAL(38,0)[] AS wide_values, '1' AS variance, "
           "'x' AS digest";
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
    WriteFileAtomically(name, bytes, FileKind::kAnything);
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

  const PlanFile plan_ = FirstPlan();
};

TEST_F(FirstMeasurementsTest, IsReadAsItWas) {
  for (const bool wide : {false, true}) {
    WriteFirst("first.parquet", wide);
    const MeasurementFile file("first.parquet");
    EXPECT_EQ(file.plan(), plan_.plan);
    const Measurements read = file.ReadAll();
    ASSERT_EQ(read.residuals.size(), 4u);
    for (const auto& [set, residual] : read.residuals) {
      const auto size = static_cast<size_t>(NumCellsInMemory(domain(), set));
      EXPECT_EQ(residual.noise_variance, IntegerNoiseVariance(plan_.plan, set));
      EXPECT_EQ(residual.scale_bits, 0);
      if (wide) {
        EXPECT_EQ(std::get<std::vector<Int128>>(residual.values),
                  std::vector<Int128>(size, Int128{3} << 64));
      } else {
        EXPECT_EQ(std::get<std::vector<int64_t>>(residual.values), std::vector<int64_t>(size, 3));
      }
    }
    std::vector<AttributeSet> asked;
    file.ForEachOf({{0, 1}, {}},
                   [&](NoisyResidual&& residual) { asked.push_back(residual.attributes); });
    EXPECT_EQ(asked, (std::vector<AttributeSet>{{}, {0, 1}}));
    EXPECT_FALSE(file.HasPieces({0, 1}));
  }
}

TEST_F(FirstMeasurementsTest, TheGoodFileIsAccepted) {
  EXPECT_EQ(RunApart([] { VerifyMeasurements(MeasurementFile("good.parquet")); }).message, "");
  // Writing its rows again changes nothing.
  Rewrite("again.parquet", "SELECT * FROM read_parquet('good.parquet')");
  EXPECT_EQ(RunApart([] { VerifyMeasurements(MeasurementFile("again.parquet")); }).message, "");
}

TEST_F(FirstMeasurementsTest, LongListsAreNotDecoded) {
  Rewrite("values.parquet", Row("[]::VARCHAR[]", ListOf("0::BIGINT")));
  ExpectRefused("values.parquet", kTooMuch);
  Rewrite("names.parquet", Row("CAST(" + ListOf("''") + " AS VARCHAR[])", "[5]::BIGINT[]"));
  ExpectRefused("names.parquet", kTooMuch);
}

TEST_F(FirstMeasurementsTest, ManyRowsAreNotDecoded) {
  Rewrite("rows.parquet",
          "SELECT r.* FROM (" + Row("[]::VARCHAR[]", "[5]::BIGINT[]") + ") r, range(100000)");
  ExpectRefused("rows.parquet", kTooMuch);
}

// A page of 160 MB in a file whose footer says that it is small: DuckDB allocates as much as the
// page says, and only its own limit stops it.
TEST_F(FirstMeasurementsTest, APageLargerThanTheFooterSaysIsWithinTheLimitOfMemory) {
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

}  // namespace
}  // namespace residua
