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
#include "residua/files/table_files.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/measure.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/release/measure_to_file.h"
#include "residua/release/stream_tables.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"
#include "tests/fixtures/folder_test.h"
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

// The order in which a table of that many rows is counted.
std::vector<int> CountingOrder(const Plan& plan, int64_t num_rows) {
  std::vector<int> order;
  const std::vector<AttributeSet> sets = MeasuredSets(plan);
  for (const CountedTable& table :
       PlanCounting(plan.domain, sets, num_rows, std::numeric_limits<int64_t>::max())) {
    order.insert(order.end(), table.sets.begin(), table.sets.end());
  }
  return order;
}

// The numbers of rows at which that order changes, as far as steps of a fifth find them.
std::set<int64_t> OrderChanges(const Plan& plan) {
  std::set<int64_t> changes;
  for (int64_t first = 1; first < kMostRows; first += first / 5 + 1) {
    int64_t low = first, high = std::min(first + first / 5 + 1, kMostRows);
    const std::vector<int> order = CountingOrder(plan, low);
    if (CountingOrder(plan, high) == order) continue;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (CountingOrder(plan, middle) == order ? low : high) = middle;
    }
    changes.insert(high);
  }
  return changes;
}

// The least numbers of rows for which a set's residuals are computed in 128 bits.
std::set<int64_t> WidthChanges(const Plan& plan) {
  std::set<int64_t> changes;
  for (const AttributeSet& set : MeasuredSets(plan)) {
    Int128 largest = 1;
    for (const int i : set) {
      const int c = plan.classes.class_of[static_cast<size_t>(i)];
      const ResidualBasis& basis = plan.bases[static_cast<size_t>(c)];
      int64_t entry = basis.size;
      if (const auto* matrix = std::get_if<IntegerMatrix>(&basis.matrix)) {
        const auto [least, most] =
            std::minmax_element(matrix->entries.begin(), matrix->entries.end());
        entry = std::max(-*least, *most);
      }
      largest *= entry;
    }
    const Int128 change = (Int128{1} << 63) / largest + ((Int128{1} << 63) % largest != 0);
    if (change <= kMostRows) changes.insert(static_cast<int64_t>(change));
  }
  return changes;
}

// From none to 100,000; each change of how they are counted, and its neighbours.
std::set<int64_t> RowCounts(const Plan& plan) {
  std::set<int64_t> counts = {0, 1, 2, 255, 256, 599, 600, 740, 741, 65535, 65536, kMostRows};
  std::set<int64_t> changes = OrderChanges(plan);
  changes.merge(WidthChanges(plan));
  for (const int64_t change : changes) {
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
    const MeasurementFile file("m.parquet");
    const Plan& plan = file.plan();
    const std::vector<AxisAnswers> axes = AxesOf(plan, AnswerKind::kPlanned);
    const auto writer = MakeTableWriter(path, format, TableColumns::kEstimates, "{}");
    StreamTables(
        file, MeasuredSets(plan), {},
        [&](const ResidualIndex& index, const AttributeSet& set, std::span<const double> counts) {
          PublishedTable table;
          std::vector<const AxisAnswers*> of_table;
          for (const int i : set) {
            of_table.push_back(&axes[static_cast<size_t>(i)]);
            table.attributes.push_back(plan.domain[i].name);
            table.labels.push_back(of_table.back()->labels);
          }
          const std::vector<double> answers = AnswerTable(counts, of_table);
          const std::vector<double> variances = AnswerVariances(index, set, of_table);
          table.estimates = answers;
          table.std_devs = variances;
          writer->Write(table);
        });
    writer->Finish();
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
    num_changes += OrderChanges(plan.plan).size() + WidthChanges(plan.plan).size();
    const std::string expected = Publish(plan, RandomTable(domain, 1000, random), {});
    const std::string csv = Tables(TableFormat::kCsv);
    const std::string parquet = Tables(TableFormat::kOneParquet);
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
    EXPECT_TRUE(Tables(TableFormat::kOneParquet) == parquet);
  }
  EXPECT_GE(num_changes, 10u);
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
  const NoisyResidual first{{0}, std::vector<int64_t>(3), IntegerNoiseVariance(plan.plan, {0})};
  const NoisyResidual second{{1}, std::vector<int64_t>(4), IntegerNoiseVariance(plan.plan, {1})};
  MeasurementWriter writer("m.parquet", plan);
  writer.Write(second);
  EXPECT_THROW(writer.Write(first), Error);
  EXPECT_THROW(writer.Write(second), Error);
}

TEST_F(PublishedTest, AWriterChoosesTheWidthByTheValues) {
  const PlanFile plan = PlanFor("3", "0", "1");
  const auto width_of = [&](Int128 value) {
    fs::remove("m.parquet");
    MeasurementWriter writer("m.parquet", plan);
    writer.Write({{}, std::vector<Int128>{value}, plan.plan.variances[0]});
    writer.Finish();
    return MeasurementFile("m.parquet").ReadAll().residuals.at({}).values.index();
  };
  EXPECT_EQ(width_of(std::numeric_limits<int64_t>::max()), 0u);
  EXPECT_EQ(width_of(Int128{std::numeric_limits<int64_t>::max()} + 1), 1u);
}

}  // namespace
}  // namespace residua
