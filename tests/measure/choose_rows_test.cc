#include "residua/measure/choose_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/oracle/deterministic_bits.h"

namespace residua {
namespace {

std::vector<size_t> Kept(const std::vector<char>& is_kept) {
  std::vector<size_t> rows;
  for (size_t row = 0; row < is_kept.size(); ++row) {
    if (is_kept[row]) rows.push_back(row);
  }
  return rows;
}

TEST(ChooseRows, KeepsAtMostAsManyOfEachIdentifier) {
  DeterministicBits bits(3);
  const std::vector<int64_t> owners = {0, 1, 0, 2, 0, 2, 0, 0};
  for (int64_t max_rows = 1; max_rows <= 6; ++max_rows) {
    std::map<int64_t, int64_t> num_rows;
    for (const size_t row : Kept(ChooseRows(owners, max_rows, bits))) ++num_rows[owners[row]];
    EXPECT_EQ(num_rows[0], std::min<int64_t>(5, max_rows));
    EXPECT_EQ(num_rows[1], 1);
    EXPECT_EQ(num_rows[2], std::min<int64_t>(2, max_rows));
  }
  EXPECT_TRUE(ChooseRows({}, 1, bits).empty());
}

// Each of the 10 pairs of 5 rows is as likely: chi-squared with 9 degrees of freedom is above 33.7
// once in ten thousand times. Keeping the first rows, or the last, fails at once.
TEST(ChooseRows, EveryChoiceIsEquallyLikely) {
  DeterministicBits bits(4);
  const std::vector<int64_t> owners = {0, 1, 0, 0, 1, 0, 0};
  std::map<std::vector<size_t>, int> counts;
  constexpr int kRuns = 20000;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<size_t> rows = Kept(ChooseRows(owners, 2, bits));
    std::erase_if(rows, [&](size_t row) { return owners[row] != 0; });
    ++counts[rows];
  }
  EXPECT_EQ(counts.size(), 10u);
  double chi_squared = 0;
  for (const auto& [rows, count] : counts) {
    const double expected = kRuns / 10.0;
    chi_squared += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_squared, 33.7);
}

}  // namespace
}  // namespace residua
