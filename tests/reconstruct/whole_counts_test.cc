#include "residua/reconstruct/whole_counts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "residua/base/error.h"

namespace residua {
namespace {

std::vector<double> Rounded(double total, std::vector<double> counts) {
  RoundToTotal(total, counts);
  return counts;
}

TEST(RoundToTotal, LargestRemaindersFirstThenPosition) {
  EXPECT_EQ(Rounded(4, {1.25, 0.5, 2.25}), (std::vector<double>{1, 1, 2}));
  EXPECT_EQ(Rounded(2, {0.5, 0.5, 0.5, 0.5}), (std::vector<double>{1, 1, 0, 0}));
  EXPECT_EQ(Rounded(2.5, {1.25, 1.25}), (std::vector<double>{2, 1}));
  EXPECT_EQ(Rounded(2.4, {1.2, 1.2}), (std::vector<double>{1, 1}));
  EXPECT_EQ(Rounded(7, {7, 0, 0}), (std::vector<double>{7, 0, 0}));
  EXPECT_EQ(Rounded(0, {0, 0}), (std::vector<double>{0, 0}));
  EXPECT_EQ(Rounded(0.4, {0.4}), (std::vector<double>{0}));
}

// Counts slightly off whole numbers are neither lost nor made up.
TEST(RoundToTotal, SurvivesRoundingErrors) {
  EXPECT_EQ(Rounded(9, {3 - 1e-13, 3 - 1e-13, 3 - 1e-13}), (std::vector<double>{3, 3, 3}));
  EXPECT_EQ(Rounded(9 - 1e-12, {3, 3, 3}), (std::vector<double>{3, 3, 3}));
  EXPECT_EQ(Rounded(9 + 1e-12, {3, 3, 3}), (std::vector<double>{3, 3, 3}));
}

TEST(RoundToTotal, SumsExactlyAndMovesNoCountByOne) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> counts(1 + random() % 50);
    for (double& count : counts) {
      count = random() % 3 == 0 ? 0 : std::pow(10, 6 * uniform(random) - 3);
      if (random() % 4 == 0) count = std::floor(count) + 0.5;
    }
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    const std::vector<double> rounded = Rounded(total, counts);
    double sum = 0;
    for (size_t c = 0; c < counts.size(); ++c) {
      EXPECT_EQ(rounded[c], std::floor(rounded[c]));
      EXPECT_GE(rounded[c], 0);
      EXPECT_LT(std::abs(rounded[c] - counts[c]), 1);
      sum += rounded[c];
    }
    EXPECT_EQ(sum, std::round(total));
  }
}

// A table and its margin, each rounded by itself: they keep the total, and a sum of k counts is at
// most k from the same number of the margin. They do differ.
TEST(RoundToTotal, RoundedTablesAgreeUpToTheNumberOfCountsAddedUp) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(0, 5);
  int num_different = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const size_t rows = 2 + random() % 8;
    const size_t columns = 2 + random() % 8;
    std::vector<double> table(rows * columns);
    std::vector<double> margin(rows, 0);
    for (size_t c = 0; c < table.size(); ++c) {
      table[c] = uniform(random);
      margin[c / columns] += table[c];
    }
    const double total = std::accumulate(table.begin(), table.end(), 0.0);
    table = Rounded(total, table);
    margin = Rounded(total, margin);
    EXPECT_EQ(std::accumulate(table.begin(), table.end(), 0.0),
              std::accumulate(margin.begin(), margin.end(), 0.0));
    for (size_t r = 0; r < rows; ++r) {
      const auto begin = table.begin() + static_cast<std::ptrdiff_t>(r * columns);
      const double sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(columns), 0.0);
      EXPECT_LE(std::abs(sum - margin[r]), static_cast<double>(columns));
      num_different += sum != margin[r] ? 1 : 0;
    }
  }
  EXPECT_GT(num_different, 0);
}

TEST(RoundToTotal, RefusesWhatHasNoAnswer) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity, -1.0}) {
    EXPECT_THROW(Rounded(3, {1, bad, 2}), Error) << bad;
    EXPECT_THROW(Rounded(bad, {1, 2}), Error) << bad;
  }
  EXPECT_THROW(Rounded(4, {1, 2}), Error);
}

TEST(RoundEach, ToTheNearest) {
  std::vector<double> values = {-1.5, -0.4, 0.4, 0.5, 2.6, -2.6};
  RoundEach(values);
  EXPECT_EQ(values, (std::vector<double>{-2, 0, 0, 1, 3, -3}));
  EXPECT_FALSE(std::signbit(values[1]));
}

}  // namespace
}  // namespace residua
