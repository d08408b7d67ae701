// What is published is a function of the plan and the noisy values. Tables of many numbers of rows
// are measured as always, their noisy values are then made the same, and every byte of what is
// written must be the same.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/files/measurement_file.h"
#include "residua/measure/measure.h"
#include "residua/release/measure_to_file.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/fixtures/folder_test.h"
#include "tests/fixtures/written_tables.h"
#include "tests/measure/counting_changes.h"
#include "tests/measure/random_table.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

PlanFile PlanFor(const std::string& domain, const std::string& marginals, const char* pcost,
                 const char* objective = "sum-variance", const Protection& protection = {}) {
  SelectRequest request{ParseDomain(domain),
                        {ParseMarginalRules(marginals), {}},
                        ParseObjective(objective),
                        BudgetFromPcost(ParseRational(pcost, "pcost"))};
  request.protection = protection;
  return {Select(request), {}};
}

// Mixed bases, sets of several rows of the file, wide values, many sets, each protection.
std::vector<PlanFile> Plans() {
  return {
      PlanFor("2*6", "<=3", "1"),
      PlanFor("2*12", "<=4", "1"),
      PlanFor("6:prefix*3,100", "<=4", "1"),
      PlanFor("7:range,5,9:prefix,3*2", "<=3", "0.1", "max-variance"),
      PlanFor("100,120,3", "<=2", "1", "p-norm=4"),
      PlanFor("2,200,3", "<=3", "1e-31"),
      PlanFor("3,4,2*4", "2", "1", "sum-variance", {Protection::Neighbours::kReplaceOne, "", 1}),
      PlanFor("3,4,2*4", "<=3", "1", "sum-variance",
              {Protection::Neighbours::kAddRemove, "person", 3})};
}

constexpr int64_t kMostRows = 100'000;

// From none to 100,000; each change of how they are counted, and its neighbours.
std::set<int64_t> RowCounts(const Plan& plan) {
  std::set<int64_t> counts = {0, 1, 2, 255, 256, 599, 600, 740, 741, 65535, 65536, kMostRows};
  for (const int64_t change : WidthChanges(plan, kMostRows)) {
    for (const int64_t count : {change - 1, change, change + 1}) counts.insert(count);
  }
  return counts;
}

// Values that follow from the set alone, wide where the noise is.
NoisyValues Replacement(const NoisyResidual& residual) {
  const size_t size = std::visit([](const auto& values) { return values.size(); }, residual.values);
  std::vector<Int128> values;
  for (size_t k = 0; k < size; ++k) {
    const auto value = static_cast<Int128>(k * 37 % 101) - 50;
    values.push_back(residual.noise_variance > Rational(Integer(1) << 110) ? value << 70 : value);
  }
  return InLeastWidth(values);
}

class PublishedTest : public FolderTest {
 protected:
  // The measurement file of the table, its noisy values replaced.
  static std::string Publish(const PlanFile& plan, const EncodedTable& table,
                             const MeasureOptions& options) {
    fs::remove("m.parquet");
    MeasurementWriter writer("m.parquet", plan);
    Measure(plan.plan, table, options, [&](NoisyResidual&& residual) {
      if (const auto* wide = std::get_if<std::vector<Int128>>(&residual.values)) {
        EXPECT_EQ(InLeastWidth(*wide).index(), 1u)
            << SetName(plan.plan.domain, residual.attributes) << " of " << table.num_rows()
            << " rows is wide, and its noisy values are not";
      }
      residual.values = Replacement(residual);
      writer.Write(residual);
    });
    writer.Finish();
    return ReadFile("m.parquet");
  }

  // All files made of m.parquet, with their names.
  static std::string Tables(TableFormat format) {
    const fs::path path = format == TableFormat::kOneParquet ? "tables.parquet" : "tables";
    fs::remove_all(path);
    WriteAllTables(MeasurementFile("m.parquet"), path, format);
    if (format == TableFormat::kOneParquet) return ReadFile(path);
    std::set<fs::path> names;
    for (const auto& entry : fs::directory_iterator(path)) names.insert(entry.path());
    std::string all;
    for (const fs::path& name : names) all += name.string() + "\n" + ReadFile(name);
    return all;
  }
};

TEST_F(PublishedTest, EveryByteIsTheSameWhateverTheNumberOfRows) {
  std::mt19937_64 random(1);
  size_t num_changes = 0;
  for (const PlanFile& plan : Plans()) {
    const Domain& domain = plan.plan.domain;
    num_changes += WidthChanges(plan.plan, kMostRows).size();
    const std::string expected = Publish(plan, RandomTable(domain, 1000, random), {});
    const std::string csv = Tables(TableFormat::kCsv);
    const std::string parquet = Tables(TableFormat::kParquet);
    const std::string one_file = Tables(TableFormat::kOneParquet);
    for (const int64_t num_rows : RowCounts(plan.plan)) {
      MeasureOptions options;
      options.counting.num_threads = static_cast<int>(1 + random() % 4);
      // Batches and values that wait: all at once, and a few at a time.
      if (random() % 2 == 0) options.counting.memory_budget_bytes = 100'000;
      if (random() % 2 == 0) options.waiting = {.memory_bytes = 10'000, .folder = "."};
      const EncodedTable table = RandomTable(domain, num_rows, random);
      // Not EXPECT_EQ, which would print them.
      EXPECT_TRUE(Publish(plan, table, options) == expected)
          << num_rows << " rows, " << domain.size() << " attributes";
    }
    // Of the last table.
    EXPECT_TRUE(Tables(TableFormat::kCsv) == csv);
    EXPECT_TRUE(Tables(TableFormat::kParquet) == parquet);
    EXPECT_TRUE(Tables(TableFormat::kOneParquet) == one_file);
  }
  EXPECT_GT(num_changes, 0u);
}

// What the rows hold does not matter either.
TEST_F(PublishedTest, EveryByteIsTheSameWhateverTheRows) {
  std::mt19937_64 random(2);
  for (const PlanFile& plan : Plans()) {
    const Domain& domain = plan.plan.domain;
    std::vector<CodeColumn> columns;
    for (const Attribute& attribute : domain.attributes()) {
      columns.push_back(EmptyCodeColumn(attribute));
      std::visit([](auto& codes) { codes.assign(1000, 1); }, columns.back());
    }
    EXPECT_TRUE(Publish(plan, EncodedTable(domain, std::move(columns)), {}) ==
                Publish(plan, RandomTable(domain, 1000, random), {}));
  }
}

TEST_F(PublishedTest, SetsInMemoryAreInThePlansOrder) {
  const PlanFile plan = PlanFor("2*6", "<=3", "1");
  for (const int num_rows : {599, 600}) {
    std::string csv = "0,1,2,3,4,5\n";
    for (int row = 0; row < num_rows; ++row) csv += "0,1,0,1,0,1\n";
    Write("people.csv", csv);
    MeasureRequest request{plan, {{"people.csv", "", ""}, std::to_string(num_rows)}, ""};
    std::vector<NoisyResidual> residuals;
    MeasureToMemory(request, &residuals);
    std::vector<AttributeSet> sets;
    for (const NoisyResidual& residual : residuals) sets.push_back(residual.attributes);
    EXPECT_EQ(sets, MeasuredSets(plan.plan)) << num_rows << " rows";
  }
}

TEST_F(PublishedTest, AWriterTakesSetsInThePlansOrderAlone) {
  const PlanFile plan = PlanFor("3,4", "<=2", "1");
  const NoisyResidual first{{0},
                            std::vector<int64_t>(3),
                            IntegerNoiseVariance(plan.plan, {0}),
                            ScaleBits(plan.plan, {0})};
  const NoisyResidual second{{1},
                             std::vector<int64_t>(4),
                             IntegerNoiseVariance(plan.plan, {1}),
                             ScaleBits(plan.plan, {1})};
  MeasurementWriter writer("m.parquet", plan);
  EXPECT_THROW(writer.Write(first), Error);  // the total comes before it
  writer.Write({{}, std::vector<int64_t>{7}, plan.plan.variances[0], plan.plan.scale_bits[0]});
  EXPECT_THROW(writer.Write(second), Error);
  writer.Write(first);
  EXPECT_THROW(writer.Write(first), Error);
}

TEST_F(PublishedTest, AWriterChoosesTheWidthByTheValues) {
  const PlanFile plan = PlanFor("3", "0", "1");
  const auto width_of = [&](Int128 value) {
    fs::remove("m.parquet");
    MeasurementWriter writer("m.parquet", plan);
    writer.Write({{}, std::vector<Int128>{value}, plan.plan.variances[0], plan.plan.scale_bits[0]});
    writer.Finish();
    return MeasurementFile("m.parquet").ReadAll().residuals.at({}).values.index();
  };
  EXPECT_EQ(width_of(std::numeric_limits<int64_t>::max()), 0u);
  EXPECT_EQ(width_of(Int128{std::numeric_limits<int64_t>::max()} + 1), 1u);
}

}  // namespace
}  // namespace residua
