#include "residua/noise/acceptance.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "residua/base/error.h"
#include "residua/noise/brick_table.h"
#include "residua/noise/direct_proposal.h"
#include "residua/noise/discrete_gaussian.h"
#include "tests/oracle/deterministic_bits.h"
#include "tests/oracle/gaussian_density.h"

namespace residua {
namespace {

const Integer kOne64 = Integer(1) << 64;

// The first and the second 64 bits of the exact probability height 2^shift f(x) - level, clamped to
// [0, 1].
struct Threshold {
  Integer first;  // 0 to 2^64
  uint64_t second;
};

Threshold ExactThreshold(const Rational& variance, const Integer& x, uint64_t height,
                         uint64_t level, int shift) {
  const Integer scaled = FloorScaledDensity(variance, x, height, 128 + shift);
  const Integer above = scaled - (Integer(level) << 128);
  if (above <= 0) return {0, 0};
  const Integer first = above >> 64;
  if (first >= kOne64) return {kOne64, 0};
  const Integer second = above - (first << 64);
  return {first, second.get_ui()};
}

// Throws the coin at and around its exact threshold, to 128 bits: `flip(words)` is the outcome when
// the coin's bits are those words.
template <typename Flip>
void ExpectExactCoin(const Threshold& threshold, const Flip& flip) {
  for (const long offset : {-100000L, -97L, -2L, -1L, 1L, 2L, 97L, 100000L}) {
    const Integer v = threshold.first + offset;
    if (v < 0 || v >= kOne64) continue;
    EXPECT_EQ(flip({v.get_ui(), 0}), offset < 0) << offset;
  }
  if (threshold.first >= kOne64) return;
  const uint64_t at = threshold.first.get_ui();
  // Below the 64 bits of V that do not decide, 64 more do.
  if (threshold.second > 0) {
    EXPECT_TRUE(flip({at, threshold.second - 1}));
    EXPECT_TRUE(flip({at, 0}));
  }
  if (threshold.second < UINT64_MAX) {
    EXPECT_FALSE(flip({at, threshold.second + 1}));
    EXPECT_FALSE(flip({at, UINT64_MAX}));
  }
}

TEST(Acceptance, BoundsEncloseTheDensity) {
  DeterministicBits bits(1);
  BitReader reader(bits);
  for (const Rational& variance :
       {Rational(1, 100), Rational(1, 3), Rational(50), Rational("12345678901234567/1000"),
        Rational(Integer(1) << 126)}) {
    const Acceptance acceptance(variance, kErrorBudget);
    const DirectProposal direct = MakeDirectProposal(variance);
    for (int shift = 0; shift <= kMaxShift; ++shift) {
      for (int repeat = 0; repeat < 20; ++repeat) {
        // At the start of step `shift`, where 2^shift f is nearest to 1, and beyond.
        const UInt128 magnitude = static_cast<UInt128>(direct.step) * shift +
                                  (repeat == 0 ? 0 : reader.Next() % direct.step);
        const uint64_t height = 1 + reader.Next() % 65536;
        const Acceptance::Bounds bounds = acceptance.Enclose(magnitude, height, shift);
        const Integer exact =
            FloorScaledDensity(variance, ToInteger(magnitude), height, 64 + shift);
        EXPECT_LE(ToInteger(bounds.lower), exact);
        EXPECT_GE(ToInteger(bounds.upper), exact);
        EXPECT_LE(ToInteger(bounds.upper - bounds.lower), 2 * kErrorBudget * height);
      }
    }
  }
}

TEST(Acceptance, BudgetBelowTheProofIsRefused) {
  EXPECT_THROW(Acceptance(Rational(1), kErrorBudget - 1), Error);
}

// P(x) of the direct sampler is 2^-(i+2) / step times the probability of this coin, which is exact:
// checked on all its values for small variances.
TEST(Acceptance, DirectProbabilitiesAreExact) {
  for (const Rational& variance :
       {Rational(1, 4), Rational(1), Rational(7, 3), Rational(50), Rational(1000001, 7)}) {
    const Acceptance acceptance(variance, kErrorBudget);
    const DirectProposal direct = MakeDirectProposal(variance);
    // The step is no wider than necessary: one less would be too small.
    EXPECT_GE(FloorScaledDensity(variance, direct.step - 1, 2, 64), kOne64);
    EXPECT_LE(FloorScaledDensity(variance, direct.step, 2, 64), kOne64);
    for (uint64_t i = 0; i <= 4; ++i) {
      for (uint64_t j = 0; j < direct.step; j += 1 + direct.step / 8) {
        for (const uint64_t negative : {0u, 1u}) {
          const Integer magnitude = Integer(i) * direct.step + j + negative;
          const Integer x = negative ? Integer(-magnitude) : magnitude;
          // The second word from the first that gives j: never among the voided ones.
          const Integer first_word = ((Integer(j) << 64) + direct.step - 1) / direct.step;
          const uint64_t j_word = Integer(first_word + 1).get_ui();
          ExpectExactCoin(ExactThreshold(variance, x, 1, 0, static_cast<int>(i)),
                          [&](std::array<uint64_t, 2> coin) {
                            const std::vector<uint64_t> script = {negative | (uint64_t{2} << i),
                                                                  j_word, coin[0], coin[1]};
                            ScriptedBits bits(script, 1);
                            BitReader reader(bits);
                            DirectDraws draws;
                            AttemptDirect(direct, acceptance, 1, reader, &draws);
                            if (draws.count == 1) {
                              const Int128 drawn = draws.values[0];
                              EXPECT_EQ(drawn < 0, x < 0);
                              EXPECT_EQ(ToInteger(static_cast<UInt128>(drawn < 0 ? -drawn : drawn)),
                                        magnitude);
                            }
                            return draws.count == 1;
                          });
        }
      }
    }
  }
}

// Likewise every edge brick (a sample of them for larger tables) and the tails.
TEST(Acceptance, BrickProbabilitiesAreExact) {
  for (const Rational& variance : {Rational(1, 4), Rational(7, 3), Rational(40000, 3)}) {
    const DiscreteGaussianSampler sampler(variance);
    const BrickTable& table = sampler.Bricks(12);
    const uint64_t width = uint64_t{1} << table.log2_width;
    for (size_t e = 0; e < table.edges.size(); e += 1 + table.edges.size() / 60) {
      for (const uint64_t offset : {uint64_t{0}, width / 2, width - 1}) {
        const Integer x = Integer(table.edges[e].column) * width + offset;
        ExpectExactCoin(ExactThreshold(variance, x, table.height, table.edges[e].level, 0),
                        [&](const std::array<uint64_t, 2>& coin) {
                          ScriptedBits bits(coin, 1);
                          BitReader reader(bits);
                          const BrickOutcome outcome =
                              ResolveBrick(table, sampler.acceptance(), table.interior.size() + e,
                                           offset, reader);
                          EXPECT_EQ(static_cast<int64_t>(outcome.value), x.get_si());
                          return outcome.accepted;
                        });
      }
    }
    const uint64_t tail_width = uint64_t{1} << table.tail_log2_width;
    for (const uint64_t negative : {0u, 1u}) {
      for (const uint64_t i : {0u, 1u, 2u, 5u}) {
        for (const uint64_t j : {uint64_t{0}, tail_width - 1}) {
          const Integer magnitude =
              Integer(table.num_columns) * width + i * tail_width + j + negative;
          const int shift = static_cast<int>(i) + 1 + table.tail_log2_width - table.log2_width;
          ExpectExactCoin(
              ExactThreshold(variance, magnitude, table.height, 0, shift),
              [&](std::array<uint64_t, 2> coin) {
                const std::vector<uint64_t> script = {uint64_t{1} << i, j, coin[0], coin[1]};
                ScriptedBits bits(script, 1);
                BitReader reader(bits);
                return ResolveBrick(table, sampler.acceptance(),
                                    table.interior.size() + table.edges.size() + negative, 0,
                                    reader)
                    .accepted;
              });
        }
      }
    }
  }
}

// With a budget that leaves nothing decided, every coin takes the exact path, with the same result.
TEST(Acceptance, ForcedFallbackDrawsTheSame) {
  uint64_t seed = 10;
  for (const Rational& variance : {Rational(1, 100), Rational(1, 4), Rational(1000, 7),
                                   Rational(Integer(1) << 60), Rational(Integer(1) << 126)}) {
    const DiscreteGaussianSampler usual(variance);
    const DiscreteGaussianSampler forced(variance, UINT64_MAX);
    const auto expect_alike = [&](const auto& draw, size_t count) {
      ++seed;
      std::vector<Int128> expected(count);
      std::vector<Int128> actual(count);
      DeterministicBits expected_bits(seed);
      DeterministicBits actual_bits(seed);
      draw(usual, expected_bits, std::span(expected));
      draw(forced, actual_bits, std::span(actual));
      EXPECT_TRUE(expected == actual) << variance.get_d();
    };
    expect_alike([](const auto& sampler, BitSource& bits,
                    std::span<Int128> out) { sampler.SampleDirect(bits, out); },
                 2000);
    for (const int log2_bricks : {12, 16}) {
      expect_alike([&](const auto& sampler, BitSource& bits,
                       std::span<Int128> out) { sampler.SampleBricks(log2_bricks, bits, out); },
                   10000);
    }
  }
}

}  // namespace
}  // namespace residua
