#include "residua/draft/column_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace residua {
namespace {

TEST(ColumnSummaryTest, FindsRepetitionsAmongMany) {
  DistinctCounter all;
  DistinctCounter some;
  for (int k = 0; k < 1'000'000; ++k) {
    all.Add(std::to_string(k));
    some.Add(std::to_string(k % 990'000));
  }
  EXPECT_TRUE(all.all_different());
  EXPECT_FALSE(some.all_different());
  // At least 8192 of the hashes are kept: five standard deviations.
  EXPECT_NEAR(all.num_different(), 1e6, 5e6 / 90);
  EXPECT_NEAR(some.num_different(), 9.9e5, 5e6 / 90);
  DistinctCounter few;
  for (int k = 0; k < 10000; ++k) few.Add(std::to_string(k % 77));
  EXPECT_EQ(few.num_different(), 77) << "exact while they are few";
}

TEST(ColumnSummaryTest, SamplesEvenly) {
  ColumnSummary summary;
  for (int64_t k = 0; k < 1'000'000; ++k) summary.Add(k);
  EXPECT_EQ(summary.first(), 0);
  EXPECT_EQ(summary.last(), 999'999);
  std::vector<double> sample = summary.sample();
  std::sort(sample.begin(), sample.end());
  // Five standard deviations of a median of a sample of 4096.
  EXPECT_NEAR(sample[sample.size() / 2], 5e5, 5 * 1e6 / 2 / 64);
}

}  // namespace
}  // namespace residua
