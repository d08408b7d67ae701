#include "residua/draft/round_cuts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace residua {
namespace {

TEST(RoundCutsTest, FollowTheSample) {
  const auto cuts_of = [](double first, double step, int count, bool whole) {
    std::vector<double> sample;
    for (int k = 0; k < count; ++k) sample.push_back(first + step * k);
    return RoundCuts(sample, whole);
  };
  using Cuts = std::vector<double>;
  EXPECT_EQ(cuts_of(18, 0.5, 140, false), (Cuts{20, 30, 40, 50, 60, 70, 80}));
  EXPECT_EQ(cuts_of(1'000'000, 1, 1001, true), (Cuts{1000000, 1000250, 1000500, 1000750, 1001000}));
  EXPECT_EQ(cuts_of(-50, 1, 101, true), (Cuts{-50, -25, -20, -10, 0, 10, 20, 25, 50}));
  EXPECT_EQ(cuts_of(1, 1, 3, true), (Cuts{1, 2}));
  EXPECT_EQ(cuts_of(3.7, 0, 10, false), (Cuts{2.5}));
  // Nine tenths are zero: the others are divided by value.
  Cuts sample(900, 0.0);
  for (int k = 1; k <= 100; ++k) sample.push_back(100.0 * k);
  EXPECT_EQ(RoundCuts(sample, true), (Cuts{0, 2000, 2500, 5000, 10000}));
}

TEST(RoundCutsTest, AreFiniteAndIncreaseWhateverTheSample) {
  constexpr double kMax = std::numeric_limits<double>::max();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  std::mt19937_64 random(1);
  std::vector<std::vector<double>> samples = {
      {kMax}, {-kMax, kMax}, {kTiny}, {-kTiny, 0, kTiny}, {0x1p53, 0x1p53 + 2, 0x1p63}, {0, -0.0}};
  for (int k = 0; k < 500; ++k) {
    const double scale = std::pow(10, static_cast<double>(random() % 600) - 300);
    const double centre = static_cast<double>(random() % 3) * scale * 1e6;
    std::vector<double> sample;
    for (int row = 0; row < 100; ++row) {
      sample.push_back(centre + scale * std::normal_distribution<double>()(random));
    }
    samples.push_back(std::move(sample));
  }
  for (const std::vector<double>& sample : samples) {
    for (const bool whole : {false, true}) {
      const std::vector<double> cuts = RoundCuts(sample, whole);
      ASSERT_FALSE(cuts.empty());
      EXPECT_LE(cuts.size(), 10);
      EXPECT_TRUE(cuts.size() >= 5 || whole || sample.size() < 100);
      for (size_t k = 0; k < cuts.size(); ++k) {
        EXPECT_TRUE(std::isfinite(cuts[k]));
        EXPECT_TRUE(k == 0 || cuts[k - 1] < cuts[k]);
      }
    }
  }
}

}  // namespace
}  // namespace residua
