#include "residua/measure/remote/partial_counts.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <set>

#include "residua/base/error.h"
#include "residua/measure/counting.h"
#include "residua/measure/true_counts.h"
#include "tests/measure/random_table.h"
#include "tests/oracle/naive_marginal.h"

namespace residua {
namespace {

class PartialCountsTest : public testing::Test {
 protected:
  EncodedTable Rows(int64_t num_rows) { return RandomTable(domain_, num_rows, random_); }

  CountedRows Counted(const EncodedTable& rows) const {
    CountedRows counted(domain_, job_.sets, job_.options);
    counted.Add(EncodedTable(rows));
    return counted;
  }

  PartialCounts Partial(int64_t partition, const EncodedTable& rows) const {
    const std::vector<int64_t> tallies = {partition, 7};
    return PartialCounts(job_, partition, Counted(rows), tallies);
  }

  static std::vector<std::string> PiecesOf(const PartialCounts& counts) {
    std::vector<std::string> pieces;
    for (int64_t k = 0; k < counts.num_pieces(); ++k) pieces.push_back(counts.Piece(k));
    return pieces;
  }

  // As two workers do: each adds the pieces of half of the numbers.
  std::vector<std::string> SumsOf(const std::vector<std::vector<std::string>>& partitions) const {
    std::vector<std::string> sums;
    for (size_t worker = 0; worker < 2; ++worker) {
      PartialSums added(job_);
      for (const auto& pieces : partitions) {
        for (size_t k = worker; k < pieces.size(); k += 2) added.Add(pieces[k]);
      }
      for (const int64_t k : added.Pieces()) sums.push_back(added.Piece(k));
    }
    return sums;
  }

  void ExpectRefused(std::span<const std::string> sums, const std::string& problem) const {
    try {
      OpenSums(job_, sums);
      ADD_FAILURE() << "not refused: " << problem;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kRefused);
      EXPECT_NE(std::string(error.what()).find(problem), std::string::npos) << error.what();
    }
  }

  std::mt19937_64 random_{5};
  const Domain domain_ = DomainOfSizes({40, 300, 2, 7, 3});
  const CountingJob job_{domain_, SetsUpTo(5, 3),  {.num_threads = 1}, "the plan",
                         2,       DrawSealingKey()};
};

TEST_F(PartialCountsTest, TheSumsAreTheCountsOfAllRows) {
  std::vector<EncodedTable> parts;
  std::vector<std::vector<std::string>> partitions;
  for (const int64_t num_rows : {5000, 0, 1, 20000}) {
    parts.push_back(Rows(num_rows));
    partitions.push_back(PiecesOf(Partial(std::ssize(partitions), parts.back())));
  }
  EXPECT_GT(partitions.front().size(), 10u);
  SummedCounts summed = OpenSums(job_, SumsOf(partitions));
  EXPECT_EQ(summed.rows.num_rows(), 25001);
  EXPECT_EQ(summed.tallies, (std::vector<int64_t>{0 + 1 + 2 + 3, 4 * 7}));
  int64_t num_marginals = 0;
  CountMarginalBatches(summed.rows, job_.options, [&](std::vector<TrueMarginal>&& batch) {
    for (const TrueMarginal& marginal : batch) {
      ++num_marginals;
      std::vector<int64_t> sums(static_cast<size_t>(marginal.num_cells()), 0);
      for (const EncodedTable& part : parts) {
        const auto cells = oracle::NaiveMarginal(part, domain_, marginal.attributes());
        for (size_t c = 0; c < sums.size(); ++c) sums[c] += cells[c];
      }
      EXPECT_EQ(TrueCounts::Cells(marginal), sums) << SetName(domain_, marginal.attributes());
    }
  });
  EXPECT_EQ(num_marginals, std::ssize(job_.sets));
}

TEST_F(PartialCountsTest, NoPiecesAreNoRows) {
  const SummedCounts summed = OpenSums(job_, {});
  EXPECT_EQ(summed.rows.num_rows(), 0);
  EXPECT_EQ(summed.tallies, (std::vector<int64_t>{0, 0}));
}

// The size of a piece depends on the plan alone, and its bytes are new each time.
TEST_F(PartialCountsTest, PiecesTellNothingWithoutTheKey) {
  const PartialCounts few = Partial(0, Rows(1));
  const PartialCounts many = Partial(1, Rows(100'000));
  ASSERT_EQ(few.num_pieces(), many.num_pieces());
  const CountingJobSize size = SizeOf(job_);
  EXPECT_EQ(size.num_pieces, few.num_pieces());
  int64_t bytes = 0;
  for (int64_t k = 0; k < few.num_pieces(); ++k) {
    EXPECT_EQ(few.Piece(k).size(), many.Piece(k).size());
    EXPECT_NE(few.Piece(k), few.Piece(k));
    bytes += static_cast<int64_t>(few.Piece(k).size());
    // Nearly all counts of one row are 0. Encrypted bytes are not.
    const std::string piece = few.Piece(k);
    EXPECT_EQ(piece.find(std::string(16, '\0'), 40), std::string::npos);
  }
  EXPECT_EQ(size.sealed_bytes, bytes);
}

TEST_F(PartialCountsTest, EveryByteOfAPieceIsProtected) {
  const std::string piece = Partial(3, Rows(10)).Piece(0);
  for (size_t k = 0; k < piece.size(); k += k < 80 ? 1 : 997) {
    std::string changed = piece;
    changed[k] = static_cast<char>(changed[k] ^ 1);
    PartialSums sums(job_);
    EXPECT_THROW(sums.Add(changed), Error) << k;
    EXPECT_TRUE(sums.Pieces().empty()) << k;
  }
  for (const size_t length : {size_t{0}, size_t{31}, size_t{40}, piece.size() - 1}) {
    PartialSums sums(job_);
    EXPECT_THROW(sums.Add(piece.substr(0, length)), Error) << length;
  }
}

TEST_F(PartialCountsTest, PiecesOfOtherMeasurementsAreRefused) {
  const std::string piece = Partial(3, Rows(10)).Piece(0);
  CountingJob other_plan = job_;
  other_plan.plan_digest = "another plan";
  EXPECT_THROW(PartialSums(other_plan).Add(piece), Error);
  CountingJob other_key = job_;
  other_key.key = DrawSealingKey();
  EXPECT_THROW(PartialSums(other_key).Add(piece), Error);
  EXPECT_NO_THROW(PartialSums(job_).Add(piece));
}

// Counts cannot be read as a text, nor parts be taken for sums, nor sums be added again.
TEST_F(PartialCountsTest, KindsAreToldApart) {
  const std::vector<std::string> pieces = PiecesOf(Partial(0, Rows(10)));
  const std::vector<std::string> sums = SumsOf({pieces});
  EXPECT_THROW(UnsealText(job_, pieces[0]), Error);
  EXPECT_THROW(UnsealText(job_, sums[0]), Error);
  EXPECT_THROW(OpenSums(job_, pieces), Error);
  EXPECT_THROW(PartialSums(job_).Add(sums[0]), Error);
  EXPECT_THROW(PartialSums(job_).Add(SealText(job_, "no piece")), Error);
  EXPECT_EQ(UnsealText(job_, SealText(job_, "a reason")), "a reason");
}

TEST_F(PartialCountsTest, APartitionCountsOnce) {
  const EncodedTable rows = Rows(100);
  PartialSums sums(job_);
  sums.Add(Partial(0, rows).Piece(1));
  sums.Add(Partial(1, rows).Piece(1));
  EXPECT_THROW(sums.Add(Partial(0, rows).Piece(1)), Error);
}

// A task that is run again gives the same counts, and its pieces may be used beside those of the
// first run. If the rows have changed, they may not.
TEST_F(PartialCountsTest, RunsAreMixedOnlyIfTheyAgree) {
  const EncodedTable rows = Rows(100);
  const std::vector<std::string> other = PiecesOf(Partial(1, Rows(50)));
  std::vector<std::string> mixed = PiecesOf(Partial(0, rows));
  const std::vector<std::string> again = PiecesOf(Partial(0, rows));
  for (size_t k = 0; k < mixed.size(); k += 3) mixed[k] = again[k];
  EXPECT_EQ(OpenSums(job_, SumsOf({mixed, other})).rows.num_rows(), 150);
  mixed[2] = Partial(0, Rows(100)).Piece(2);
  ExpectRefused(SumsOf({mixed, other}), "a partition was counted again with other rows");
}

TEST_F(PartialCountsTest, EveryPieceOfTheSumsIsThereOnce) {
  const std::vector<std::string> pieces = PiecesOf(Partial(0, Rows(100)));
  std::vector<std::string> sums = SumsOf({pieces, PiecesOf(Partial(1, Rows(50)))});
  std::vector<std::string> missing(sums.begin(), sums.end() - 1);
  ExpectRefused(missing, "a piece is missing");
  std::vector<std::string> twice = sums;
  twice.back() = twice.front();
  ExpectRefused(twice, "a piece came twice");
  // One worker did not see a partition.
  PartialSums added(job_);
  added.Add(pieces[0]);
  sums[0] = added.Piece(0);
  ExpectRefused(sums, "a partition was counted again with other rows");
}

TEST_F(PartialCountsTest, SumsNeverWrap) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const EncodedTable rows = Rows(1);
  const std::vector<int64_t> tallies = {kMost, 0};
  PartialSums sums(job_);
  sums.Add(PartialCounts(job_, 0, Counted(rows), tallies).Piece(0));
  try {
    sums.Add(PartialCounts(job_, 1, Counted(rows), tallies).Piece(0));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kTooLarge);
  }
}

TEST_F(PartialCountsTest, RefusesTablesThatDoNotFit) {
  CountingJob small = job_;
  small.options.memory_budget_bytes = 200'000;
  try {
    CheckCountsElsewhere(small);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kTooLarge);
  }
  EXPECT_NO_THROW(CheckCountsElsewhere(job_));
}

}  // namespace
}  // namespace residua
