#include "residua/measure/waiting_residuals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "residua/base/error.h"
#include "tests/measure/random_table.h"

namespace residua {
namespace {

// Of a set of k attributes, 3 k + 1 values; wide for every other set.
NoisyResidual ResidualOf(const AttributeSet& set, size_t turn) {
  NoisyResidual residual{
      set, {}, Rational(static_cast<long>(turn + 1), 7), static_cast<int>(turn % 20)};
  if (turn % 2 == 1) residual.values = std::vector<Int128>();
  std::visit(
      [&](auto& values) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        for (size_t k = 0; k <= 3 * set.size(); ++k) {
          values.push_back((Value{1} << (8 * sizeof(Value) - 8)) - static_cast<Value>(turn + k));
        }
      },
      residual.values);
  return residual;
}

TEST(WaitingResidualsTest, AnyOrderBecomesThePlans) {
  std::vector<AttributeSet> sets = SetsUpTo(5, 3);
  std::sort(sets.begin(), sets.end(), ListedBefore);
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<size_t> turns(sets.size());
    for (size_t k = 0; k < turns.size(); ++k) turns[k] = k;
    if (trial == 1) std::reverse(turns.begin(), turns.end());
    if (trial > 1) std::shuffle(turns.begin(), turns.end(), random);
    size_t next = 0;
    const std::function<void(NoisyResidual &&)> visit = [&](NoisyResidual&& residual) {
      ASSERT_LT(next, sets.size());
      const NoisyResidual expected = ResidualOf(sets[next], next);
      EXPECT_EQ(residual.attributes, expected.attributes);
      EXPECT_EQ(residual.values, expected.values);
      EXPECT_EQ(residual.noise_variance, expected.noise_variance);
      EXPECT_EQ(residual.scale_bits, expected.scale_bits);
      ++next;
    };
    // From none in memory to all.
    const WaitingOptions options{.memory_bytes = trial % 6 * 200, .folder = testing::TempDir()};
    WaitingResiduals waiting(sets, options, visit);
    for (const size_t turn : turns) {
      EXPECT_FALSE(waiting.done());
      waiting.Add(ResidualOf(sets[turn], turn));
    }
    EXPECT_TRUE(waiting.done());
    EXPECT_EQ(next, sets.size());
  }
}

TEST(WaitingResidualsTest, NothingIsLeftInTheFolder) {
  std::string name = testing::TempDir() + "waiting_XXXXXX";
  const std::filesystem::path folder = mkdtemp(name.data());
  {
    const std::function<void(NoisyResidual &&)> visit = [](NoisyResidual&&) {};
    WaitingResiduals waiting({{}, {0}}, {.memory_bytes = 0, .folder = folder}, visit);
    waiting.Add(ResidualOf({0}, 1));
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::remove(folder);
}

TEST(WaitingResidualsTest, AFolderThatIsNotThereIsNamed) {
  const std::function<void(NoisyResidual &&)> visit = [](NoisyResidual&&) {};
  WaitingResiduals waiting({{}, {0}}, {.memory_bytes = 0, .folder = "/no/such"}, visit);
  try {
    waiting.Add(ResidualOf({0}, 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIo);
    EXPECT_TRUE(std::string(error.what()).starts_with("/no/such: ")) << error.what();
  }
}

TEST(WaitingResidualsTest, ASetTwiceOrUnknownIsABug) {
  const std::function<void(NoisyResidual &&)> visit = [](NoisyResidual&&) {};
  WaitingResiduals waiting({{}, {0}, {1}}, {}, visit);
  waiting.Add(ResidualOf({1}, 1));
  EXPECT_THROW(waiting.Add(ResidualOf({1}, 1)), Error);
  EXPECT_THROW(waiting.Add(ResidualOf({0, 1}, 1)), Error);
}

}  // namespace
}  // namespace residua
