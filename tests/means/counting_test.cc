#include <gtest/gtest.h>

#include <limits>

#include "residua/base/error.h"
#include "residua/measure/counting.h"
#include "residua/measure/remote/partial_counts.h"
#include "residua/measure/split_rows.h"
#include "residua/measure/true_counts.h"
#include "tests/means/number_rows.h"

namespace residua {
namespace {

Domain Flights() {
  return Domain({OfCells("a", 3), Averaged("delay", Whole(-60, 600), true),
                 OfCells("b", 4, QueryKind::kPrefix),
                 Averaged("fare", MakeMeanEncoding(0, Rational(5), Rational(1, 20)), false),
                 OfCells("c", 2)});
}

// All sets with at most one of the two means.
std::vector<AttributeSet> AllSets(const Domain& domain) {
  std::vector<AttributeSet> sets;
  for (int mask = 0; mask < 1 << domain.size(); ++mask) {
    AttributeSet set;
    int num_means = 0;
    for (int i = 0; i < domain.size(); ++i) {
      if ((mask >> i & 1) == 0) continue;
      set.push_back(i);
      num_means += MeanOf(domain[i]) != nullptr ? 1 : 0;
    }
    if (num_means < 2) sets.push_back(set);
  }
  return sets;
}

void ExpectCounts(const Domain& domain, const std::vector<Row>& rows, const TrueMarginal& found) {
  const AttributeSet& set = found.attributes();
  Eigen::VectorXd expected = Eigen::VectorXd::Zero(NumCellsInMemory(domain, set));
  for (const Row& row : rows) expected += SplitOver(domain, set, row);
  expected *= static_cast<double>(RowSteps(domain, set));
  const std::vector<int64_t>& cells = TrueCounts::Cells(found);
  ASSERT_EQ(std::ssize(cells), expected.size());
  for (Eigen::Index k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(cells[static_cast<size_t>(k)], std::llround(expected[k]))
        << SetName(domain, set) << " cell " << k;
  }
}

TEST(MeanCountingTest, HeldAndStreamedRowsAreSplitAsTheDefinitionSays) {
  const Domain domain = Flights();
  const std::vector<AttributeSet> sets = AllSets(domain);
  std::mt19937_64 random(5);
  const std::vector<Row> rows = RandomRows(domain, 3000, random);
  // With a large budget tables are widened, with none they are not, and rows are held.
  for (const int64_t budget : {int64_t{1} << 30, int64_t{0}}) {
    CountingOptions options;
    options.memory_budget_bytes = budget;
    size_t num_found = 0;
    CountMarginals(Encoded(domain, rows), domain, sets, options, [&](TrueMarginal&& found) {
      ExpectCounts(domain, rows, found);
      ++num_found;
    });
    EXPECT_EQ(num_found, sets.size());
    CountedRows streamed(domain, sets, options);
    EXPECT_EQ(streamed.holds_rows(), budget == 0);
    for (size_t first = 0; first < rows.size(); first += 700) {
      const size_t last = std::min(rows.size(), first + 700);
      streamed.Add(Encoded(domain, {rows.begin() + static_cast<long>(first),
                                    rows.begin() + static_cast<long>(last)}));
    }
    num_found = 0;
    CountMarginalBatches(streamed, options, [&](std::vector<TrueMarginal>&& batch) {
      for (const TrueMarginal& found : batch) ExpectCounts(domain, rows, found);
      num_found += batch.size();
    });
    EXPECT_EQ(num_found, sets.size());
  }
}

TEST(MeanCountingTest, PartialCountsAddUp) {
  const Domain domain = Flights();
  const std::vector<AttributeSet> sets = AllSets(domain);
  std::mt19937_64 random(6);
  const std::vector<Row> rows = RandomRows(domain, 500, random);
  const CountingOptions options;
  const CountingJob job{domain, sets, options, "plan", 0, DrawSealingKey()};
  PartialSums sums(job);
  for (int64_t part = 0; part < 2; ++part) {
    CountedRows counted(domain, sets, job.options);
    counted.Add(
        Encoded(domain, {rows.begin() + part * 200, part == 0 ? rows.begin() + 200 : rows.end()}));
    const PartialCounts partial(job, part, std::move(counted), {});
    for (int64_t piece = 0; piece < partial.num_pieces(); ++piece) sums.Add(partial.Piece(piece));
  }
  std::vector<std::string> pieces;
  for (const int64_t piece : sums.Pieces()) pieces.push_back(sums.Piece(piece));
  SummedCounts summed = OpenSums(job, pieces);
  size_t num_found = 0;
  CountMarginalBatches(summed.rows, job.options, [&](std::vector<TrueMarginal>&& batch) {
    for (const TrueMarginal& found : batch) ExpectCounts(domain, rows, found);
    num_found += batch.size();
  });
  EXPECT_EQ(num_found, sets.size());
}

TEST(MeanCountingTest, LargeSumsTakeSixtyFourBitsAndNoMore) {
  constexpr int64_t kSteps = kMaxMeanSteps;
  const Domain domain({Averaged("m", Whole(0, kSteps), false), OfCells("a", 2)});
  const std::vector<AttributeSet> sets = {{}, {0}, {0, 1}};
  const std::vector<Row> rows(50, Row{kSteps, 1});
  CountedRows streamed(domain, sets, {});
  streamed.Add(Encoded(domain, rows));
  CountMarginalBatches(streamed, {}, [&](std::vector<TrueMarginal>&& batch) {
    for (const TrueMarginal& found : batch) ExpectCounts(domain, rows, found);
  });
  CountMarginals(Encoded(domain, rows), domain, sets, {},
                 [&](TrueMarginal&& found) { ExpectCounts(domain, rows, found); });
  const int64_t most = std::numeric_limits<int64_t>::max() / kSteps;
  CheckRowsFit(domain, sets, most);
  EXPECT_THROW(CheckRowsFit(domain, sets, most + 1), Error);
  EXPECT_THROW(CheckCountable(domain, sets, most + 1, {}), Error);
  CheckRowsFit(domain, std::vector<AttributeSet>{{}, {1}}, most + 1);
}

TEST(MeanCountingTest, CodesBeyondTheHighestNumberAreRefused) {
  const Domain domain({Averaged("m", Whole(0, 10), false)});
  EXPECT_NO_THROW(EncodedTable(domain, {std::vector<uint8_t>{0, 10}}));
  EXPECT_THROW(EncodedTable(domain, {std::vector<uint8_t>{0, 11}}), Error);
  const Domain with_null({Averaged("m", Whole(0, 10), true)});
  EXPECT_NO_THROW(EncodedTable(with_null, {std::vector<uint8_t>{11}}));
  EXPECT_THROW(EncodedTable(with_null, {std::vector<uint8_t>{12}}), Error);
  // Of the same cells, but another range.
  const EncodedTable table(domain, {std::vector<uint8_t>{10}});
  EXPECT_FALSE(table.IsOf(Domain({Averaged("m", Whole(0, 5), false)})));
  EXPECT_FALSE(table.IsOf(Domain({OfCells("m", 2)})));
}

}  // namespace
}  // namespace residua
