#include "residua/measure/true_tally.h"

#include <gtest/gtest.h>

#include <random>

#include "residua/base/error.h"

namespace residua {
namespace {

// Sums of a loop over the cells, folded.
template <typename Sum>
std::vector<Sum> NaiveSums(const std::vector<uint64_t>& counts, Sum weight, size_t period) {
  std::vector<Sum> sums(period, 3);
  for (size_t c = 0; c < counts.size(); ++c) sums[c % period] += weight * counts[c];
  return sums;
}

template <typename Sum>
void ExpectSums(const TrueTally& tally, const std::vector<uint64_t>& counts, Sum weight) {
  for (size_t period = 1; period <= counts.size(); ++period) {
    if (counts.size() % period != 0) continue;
    std::vector<Sum> sums(period, 3);
    tally.AddTo(weight, static_cast<int64_t>(period), sums.data());
    EXPECT_TRUE(sums == NaiveSums(counts, weight, period)) << period;
  }
}

// Few rows and many, spread evenly and all in one cell: listed, counted, and carried twice over.
TEST(TrueTallyTest, AgreesWithALoop) {
  std::mt19937_64 random(1);
  for (const size_t num_cells : {1u, 7u, 64u, 360u}) {
    for (const bool is_skewed : {false, true}) {
      TrueTally tally(static_cast<int64_t>(num_cells));
      std::vector<uint64_t> counts(num_cells, 0);
      for (const size_t num_rows : {0u, 1u, 5u, 40u, 300u, 70'000u, 3u, 200'000u}) {
        std::vector<uint32_t> cells;
        for (size_t row = 0; row < num_rows; ++row) {
          const uint64_t cell = is_skewed && row % 16 != 0 ? num_cells / 2 : random() % num_cells;
          cells.push_back(static_cast<uint32_t>(cell));
          ++counts[cell];
        }
        tally.Add(cells);
        ExpectSums<uint64_t>(tally, counts, 0xfedcba9876543210);  // wraps, as it must
        ExpectSums<UInt128>(tally, counts, (UInt128{1} << 100) - 7);
      }
    }
  }
}

TEST(TrueTallyTest, HoldsNoMoreCellsThanItsNumbers) {
  EXPECT_THROW(TrueTally((int64_t{1} << 32) + 1), Error);
  EXPECT_THROW(TrueTally(-1), Error);
  TrueTally empty(0);
  empty.Add({});
}

TEST(TrueTallyTest, BytesGrowWithRowsAndThenWithCells) {
  EXPECT_EQ(TrueTally::MostBytes(1'000'000'000, 0), 0);
  EXPECT_EQ(TrueTally::MostBytes(1'000'000'000, 10'000'000), 80'000'000);
  EXPECT_EQ(TrueTally::MostBytes(1'000'000'000, 1'024'000'000), 1'032'000'000);
  EXPECT_EQ(TrueTally::MostBytes(1'000'000'000, int64_t{1} << 50), 2'000'000'000);
}

}  // namespace
}  // namespace residua
