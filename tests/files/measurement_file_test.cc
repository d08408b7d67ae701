#include "residua/files/measurement_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/data/duckdb_connection.h"
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

// Pieces of any size and width make the same bytes as the set at once.
TEST_F(MeasurementFileTest, PiecesDoNotShow) {
  for (const char* pcost : {"1", "1e-28"}) {
    const PlanFile plan = MakePlan("100,120,3", pcost);
    const auto written = WriteMeasurement(plan);
    const std::string expected = ReadFile(path_);
    for (const int64_t size : {1, 77, 4096, 5000, 100'000}) {
      fs::remove(path_);
      MeasurementWriter writer(path_, plan);
      for (const AttributeSet& set : MeasuredSets(plan.plan)) {
        writer.Begin(set);
        std::visit(
            [&](const auto& values) {
              for (int64_t first = 0; first < std::ssize(values); first += size) {
                const auto piece = std::span(values).subspan(
                    static_cast<size_t>(first),
                    static_cast<size_t>(std::min(size, std::ssize(values) - first)));
                const std::vector<Int128> wide(piece.begin(), piece.end());
                if (first / size % 2 == 0) {
                  writer.Append(piece);
                } else {
                  writer.Append(wide);
                }
              }
            },
            written.at(set).values);
      }
      writer.Finish();
      EXPECT_TRUE(ReadFile(path_) == expected) << pcost << " by " << size;
    }
  }
}

TEST_F(MeasurementFileTest, PiecesMustFitThePlan) {
  MeasurementWriter writer(path_, MakePlan("3,4", "1"));
  const std::vector<int64_t> values = {1, 2, 3, 4};
  writer.Begin({});
  EXPECT_THROW(writer.Begin({0}), Error);                 // the total is missing
  EXPECT_THROW(writer.Append(std::span(values)), Error);  // it has one value
  writer.Append(std::span(values).first(1));
  EXPECT_THROW(writer.Begin({}), Error);  // again
  writer.Begin({0});
  writer.Append(std::span(values).first(2));
  EXPECT_THROW(writer.Append(std::span(values).first(2)), Error);
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
  const PlanFile plan = MakePlan("3,4", "1");
  {
    MeasurementWriter writer(path_, plan);
    writer.Write({{}, std::vector<int64_t>{5}, plan.plan.variances[0], plan.plan.scale_bits[0]});
    EXPECT_THROW(writer.Finish(), Error);  // sets are missing
    EXPECT_THROW(writer.Complete(), Error);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(MeasurementFileTest, NoiseOtherThanThePlansIsRefused) {
  const PlanFile plan = MakePlan("3,4", "1");
  const int bits = plan.plan.scale_bits[0];
  for (const auto& [variance, scale_bits] : {std::pair{Rational(plan.plan.variances[0] / 2), bits},
                                             std::pair{plan.plan.variances[0], bits + 1}}) {
    MeasurementWriter writer(path_, plan);
    EXPECT_THROW(writer.Write({{}, std::vector<int64_t>{5}, variance, scale_bits}), Error);
  }
}

// Of a plan that nobody verified.
TEST_F(MeasurementFileTest, ScalesThatDoNotFitAreRefused) {
  for (const int bits : {-1, 63, 1'000'000'000}) {
    PlanFile plan = MakePlan("3,4", "1");
    std::fill(plan.plan.scale_bits.begin(), plan.plan.scale_bits.end(), bits);
    MeasurementWriter writer(path_, plan);
    EXPECT_THROW(
        {
          for (const AttributeSet& set : MeasuredSets(plan.plan)) {
            writer.Begin(set);
            writer.Append(std::vector<int64_t>(
                static_cast<size_t>(NumCellsInMemory(plan.plan.domain, set)), 7));
          }
        },
        Error)
        << bits;
  }
}

// Bytes flipped one at a time, and the file cut at many lengths: never a crash, and nothing is
// accepted.
TEST_F(MeasurementFileTest, DamageIsNoticed) {
  WriteMeasurement(MakePlan("5,4", "1"));
  const std::string good = ReadFile(path_);
  const fs::path bad = folder_ / "bad.parquet";
  const auto expect_refused = [&](const std::string& bytes, size_t at) {
    std::ofstream(bad, std::ios::binary | std::ios::trunc) << bytes;
    try {
      VerifyMeasurements(MeasurementFile(bad));
      ADD_FAILURE() << at << " of " << good.size();
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kBroken) << at;
    }
  };
  for (size_t at = 0; at < good.size(); at += at < 500 ? 1 : 7) {
    std::string changed = good;
    changed[at] = static_cast<char>(changed[at] ^ 0x15);
    expect_refused(changed, at);
  }
  for (size_t size = 0; size < good.size(); size += 41) expect_refused(good.substr(0, size), size);
}

// What a question reads is checked, and nothing else.
TEST_F(MeasurementFileTest, SomeSetsAreReadWithoutTheOthers) {
  const PlanFile plan = MakePlan("300,400,3", "1");
  const auto written = WriteMeasurement(plan);
  // The largest set, {0, 1}, has row groups of its own; damage it.
  std::string bytes = ReadFile(path_);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  WriteFileAtomically(path_, bytes, FileKind::kAnything);
  const MeasurementFile file(path_);
  std::vector<AttributeSet> asked;
  file.ForEachOf({{1}, {}, {1, 2}, {1}}, [&](NoisyResidual&& residual) {
    asked.push_back(residual.attributes);
    EXPECT_EQ(residual.values, written.at(residual.attributes).values);
    EXPECT_EQ(residual.noise_variance, written.at(residual.attributes).noise_variance);
  });
  EXPECT_EQ(asked, (std::vector<AttributeSet>{{}, {1}, {1, 2}}));
  EXPECT_THROW(file.ForEachOf({{0, 1}}, [](NoisyResidual&&) {}), Error);
  EXPECT_THROW(file.ForEachOf({{0, 1, 2}}, [](NoisyResidual&&) {}), Error);  // was not measured
  EXPECT_THROW(VerifyMeasurements(file), Error);
}

// A set of several row groups, some of them wide, at once and piece by piece.
TEST_F(MeasurementFileTest, LargeSetsAreReadInPieces) {
  const PlanFile plan = MakePlan("1100,1200,3", "1");
  const AttributeSet large = {0, 1};
  for (const bool is_wide : {false, true}) {
    fs::remove(path_);
    std::vector<Int128> expected;
    for (int64_t k = 0; k < 1100 * 1200; ++k) expected.push_back(k * k % 1001 - 500);
    if (is_wide) expected.back() = Int128{1} << 70;
    {
      MeasurementWriter writer(path_, plan);
      for (const AttributeSet& set : MeasuredSets(plan.plan)) {
        writer.Begin(set);
        if (set == large) {
          writer.Append(std::span<const Int128>(expected));
        } else {
          writer.Append(std::vector<int64_t>(
              static_cast<size_t>(NumCellsInMemory(plan.plan.domain, set)), 7));
        }
      }
      writer.Finish();
    }
    const MeasurementFile file(path_);
    EXPECT_TRUE(file.HasPieces(large));
    EXPECT_FALSE(file.HasPieces({0}));
    EXPECT_EQ(file.IsWide(large), is_wide);
    std::vector<size_t> sizes, widths;
    std::vector<Int128> read;
    file.ForEachPiece(large, [&](ResidualValues piece) {
      widths.push_back(piece.index());
      std::visit(
          [&](const auto& values) {
            sizes.push_back(values.size());
            read.insert(read.end(), values.begin(), values.end());
          },
          piece);
    });
    EXPECT_EQ(sizes, (std::vector<size_t>{1 << 20, 1100 * 1200 - (1 << 20)}));
    EXPECT_EQ(widths, (std::vector<size_t>{0, is_wide ? 1u : 0u}));
    EXPECT_TRUE(read == expected);
    const Measurements all = file.ReadAll();
    EXPECT_TRUE(all.residuals.at(large).values == InLeastWidth(expected));
    EXPECT_EQ(VerifyMeasurements(file), plan.plan.pcost);
  }
}

// Other programs read it as any Parquet file.
TEST_F(MeasurementFileTest, DuckDbReadsTheValues) {
  for (const char* pcost : {"1", "1e-28"}) {
    const PlanFile plan = MakePlan("100,120,3", pcost);
    fs::remove(path_);
    const auto written = WriteMeasurement(plan);
    const std::string name = path_.string();
    DuckDbConnection connection = DuckDbConnection::InMemory(name, name);
    size_t number = 0;
    for (const AttributeSet& set : MeasuredSets(plan.plan)) {
      std::vector<Int128> values;
      connection.Stream(
          fmt::format("SELECT coalesce(wide_value, value::DECIMAL(38,0)), attributes, variance, "
                      "scale FROM read_parquet({}) WHERE \"set\" = {}",
                      SqlText(name), number++),
          [&](const DuckDbChunk& chunk) {
            for (int64_t row = 0; row < chunk.num_rows(); ++row) {
              const duckdb_hugeint value = chunk.Values<duckdb_hugeint>(0)[row];
              values.push_back(static_cast<Int128>(value.upper) << 64 | value.lower);
              std::string names;
              for (const int i : set) {
                names += (names.empty() ? "" : ",") + plan.plan.domain[i].name;
              }
              ASSERT_EQ(TextOf(chunk.Values<duckdb_string_t>(1)[row]), names);
              ASSERT_EQ(TextOf(chunk.Values<duckdb_string_t>(2)[row]),
                        ToString(written.at(set).noise_variance));
              ASSERT_EQ(chunk.Values<int64_t>(3)[row], int64_t{1} << ScaleBits(plan.plan, set));
            }
          });
      EXPECT_TRUE(InLeastWidth(values) == written.at(set).values) << pcost;
    }
  }
}

}  // namespace
}  // namespace residua
