#include "residua/release/stream_tables.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "residua/measure/measure.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/release/answer_questions.h"
#include "residua/text/domain_text.h"
#include "residua/text/question_text.h"
#include "residua/text/workload_text.h"
#include "tests/fixtures/folder_test.h"
#include "tests/fixtures/run_apart.h"

namespace residua {
namespace {

class StreamTablesTest : public FolderTest {
 protected:
  static void WriteMeasurements(const std::string& domain) {
    const PlanFile plan{Select({ParseDomain(domain),
                                {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                                {},
                                BudgetFromPcost(1),
                                {}}),
                        {}};
    MeasurementWriter writer("m.parquet", plan);
    for (const AttributeSet& set : MeasuredSets(plan.plan)) {
      writer.Begin(set);
      int64_t left = 1;
      for (const int i : set) {
        const int c = plan.plan.classes.class_of[static_cast<size_t>(i)];
        left *= NumResidualRows(plan.plan.bases[static_cast<size_t>(c)]);
      }
      std::vector<int64_t> piece(1 << 16);
      for (int64_t first = 0; left > 0; left -= std::ssize(piece), first += std::ssize(piece)) {
        piece.resize(static_cast<size_t>(std::min<int64_t>(left, std::ssize(piece))));
        for (int64_t k = 0; k < std::ssize(piece); ++k) {
          piece[static_cast<size_t>(k)] = (first + k) * 7919 % 10'007 - 5000;
        }
        writer.Append(piece);
      }
    }
    writer.Finish();
  }
};

// The tables that come in slabs, and those that do not.
TEST_F(StreamTablesTest, SlabsAreTheWholeTable) {
  WriteMeasurements("1500,1600,7,3:prefix");
  const MeasurementFile file("m.parquet");
  const std::vector<AttributeSet> tables = {{}, {0}, {0, 1}, {1, 2}, {0, 3}};
  std::map<AttributeSet, std::vector<double>> whole, pieces;
  std::map<AttributeSet, double> variance;
  const auto visit = [](auto* counts_of, const AttributeSet& table,
                        std::span<const double> counts) {
    (*counts_of)[table].assign(counts.begin(), counts.end());
  };
  StreamTables(
      file, tables, {},
      [&](const ResidualIndex& index, const AttributeSet& table, std::span<const double> counts) {
        visit(&whole, table, counts);
        variance[table] = CellVariances(index, table)[0];
      });
  EXPECT_EQ(whole.size(), tables.size());
  StreamOptions options;
  options.max_whole_cells = 100'000;
  int num_slabs = 0;
  options.visit_slab = [&](const TablePiece& piece) {
    ++num_slabs;
    EXPECT_EQ(piece.table, (AttributeSet{0, 1}));
    std::vector<double>& counts = pieces[piece.table];
    EXPECT_EQ(piece.first, std::ssize(counts));
    counts.insert(counts.end(), piece.counts.begin(), piece.counts.end());
    EXPECT_EQ(CellVariances(piece.index, piece.table)[0], variance[piece.table]);
  };
  StreamTables(file, tables, options,
               [&](const ResidualIndex&, const AttributeSet& table,
                   std::span<const double> counts) { visit(&pieces, table, counts); });
  EXPECT_TRUE(pieces == whole);
  EXPECT_GE(num_slabs, 2);
}

// Answers are the same whether a large set is held or read in pieces.
TEST_F(StreamTablesTest, LargeSetsAreAnsweredInPieces) {
  WriteMeasurements("1500,1600,7");
  const MeasurementFile file("m.parquet");
  const std::vector<AttributeSet> tables = {{0, 1}, {1, 2}};
  const std::vector<NoisyResidual> all = ReadSubsets(file, tables);
  const SubsetResiduals small = ReadSmallSubsets(file, tables, 100'000);
  EXPECT_EQ(small.elsewhere, (std::vector<AttributeSet>{{0, 1}}));
  EXPECT_EQ(small.residuals.size() + 1, all.size());
  const ResidualIndex whole = IndexResiduals(file.plan(), all);
  const ResidualIndex index = IndexResiduals(file.plan(), small);
  for (const char* question :
       {"0=3 1=4", "0=7..900 1=1..1500", "0=1|5|9 1=3|1599", "1=7 2=3", "0=4"}) {
    const ProductQuery query = ParseQuestion(question, file.plan().domain);
    const Estimate expected = Answer(whole, query);
    const Estimate answer = Answer(index, query, [&](const AttributeSet& set, const auto& use) {
      file.ForEachPiece(set, use);
    });
    EXPECT_EQ(answer.value, expected.value) << question;
    EXPECT_EQ(answer.variance, expected.variance) << question;
  }
  EXPECT_THROW(Answer(index, ParseQuestion("0=3 1=4", file.plan().domain)), Error);
}

// 36 million cells, 288 MB of values and as much of counts.
TEST_F(StreamTablesTest, LargeTablesTakeLittleMemory) {
  const Outcome made = RunApart([] { WriteMeasurements("6000,6000"); });
  EXPECT_EQ(made.message, "");
  EXPECT_LT(made.peak_bytes, 150'000'000);
  const Outcome read = RunApart([] {
    int64_t num_cells = 0;
    StreamOptions options;
    options.reconstruct.num_threads = 1;
    options.visit_slab = [&](const TablePiece& piece) { num_cells += std::ssize(piece.counts); };
    StreamTables(MeasurementFile("m.parquet"), {{0, 1}}, options,
                 [](const ResidualIndex&, const AttributeSet&, std::span<const double>) {});
    RESIDUA_CHECK(num_cells == 36'000'000);
  });
  EXPECT_EQ(read.message, "");
  EXPECT_LT(read.peak_bytes, 200'000'000);
  const Outcome asked = RunApart(
      [] { AnswerQuestions("m.parquet", std::vector<std::string>{"0=3 1=5..2000"}, 0.9); });
  EXPECT_EQ(asked.message, "");
  EXPECT_LT(asked.peak_bytes, 150'000'000);
  const Outcome verified = RunApart([] { VerifyMeasurements(MeasurementFile("m.parquet")); });
  EXPECT_EQ(verified.message, "");
  EXPECT_LT(verified.peak_bytes, 150'000'000);
}

}  // namespace
}  // namespace residua
