#include "residua/noise/discrete_gaussian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "residua/base/error.h"
#include "residua/noise/secure_bits.h"
#include "tests/oracle/deterministic_bits.h"
#include "tests/oracle/discrete_gaussian_fit.h"

namespace residua {
namespace {

// Significance of every statistical test here. The seeds are fixed, so that a test that passes once
// passes always.
constexpr double kAlpha = 1e-6;
constexpr size_t kNumSamples = 1000000;

Rational PowerOfTwo(unsigned exponent) { return Rational(Integer(1) << exponent); }

// A variance with a numerator and a denominator of several hundred bits, near `value`.
Rational Awkward(const Rational& value) {
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 3, 400);
  Rational result = value * Rational(power + 2, power - 7);
  result.canonicalize();
  return result;
}

template <typename Out, typename Draw>
std::vector<Out> DrawWith(size_t count, const Draw& draw) {
  std::vector<Out> out(count);
  draw(std::span<Out>(out));
  return out;
}

// The samples fit their variance, and do not fit one that is 3 % larger or smaller.
template <typename Out>
void ExpectFits(const std::vector<Out>& samples, const Rational& variance) {
  const std::span<const Out> view(samples);
  EXPECT_TRUE(FitsDiscreteGaussian(view, variance, kAlpha)) << variance.get_d();
  EXPECT_FALSE(FitsDiscreteGaussian(view, variance * Rational(103, 100), kAlpha))
      << variance.get_d();
  EXPECT_FALSE(FitsDiscreteGaussian(view, variance * Rational(97, 100), kAlpha))
      << variance.get_d();
}

TEST(DiscreteGaussian, DirectFits) {
  uint64_t seed = 100;
  for (const Rational& variance :
       {Rational(1, 4), Rational(2), Rational(7, 3), Rational(2500), Awkward(1000000),
        Rational("1000000000000000000"), PowerOfTwo(112)}) {
    const DiscreteGaussianSampler sampler(variance);
    DeterministicBits bits(++seed);
    ExpectFits(DrawWith<int64_t>(kNumSamples,
                                 [&](auto out) {
                                   // In small pieces, as it is used.
                                   for (size_t i = 0; i < out.size(); i += 25) {
                                     sampler.SampleDirect(bits, out.subspan(i, 25));
                                   }
                                 }),
               variance);
  }
}

class Bricks : public testing::TestWithParam<int> {};

TEST_P(Bricks, Fit) {
  uint64_t seed = 200 + static_cast<uint64_t>(GetParam());
  for (const Rational& variance :
       {Rational(1, 4), Rational(9), Awkward(2500), Rational(1000000), Rational("1000000000000"),
        PowerOfTwo(80), PowerOfTwo(104), PowerOfTwo(112)}) {
    const DiscreteGaussianSampler sampler(variance);
    DeterministicBits bits(++seed);
    ExpectFits(DrawWith<int64_t>(kNumSamples,
                                 [&](auto out) { sampler.SampleBricks(GetParam(), bits, out); }),
               variance);
  }
}

INSTANTIATE_TEST_SUITE_P(SizesInUse, Bricks, testing::Values(12, 14, 16));

TEST(DiscreteGaussian, WideIntegersFit) {
  uint64_t seed = 300;
  for (const Rational& variance : {Rational(3), Rational(1000000), PowerOfTwo(100),
                                   Awkward(PowerOfTwo(120)), PowerOfTwo(126)}) {
    const DiscreteGaussianSampler sampler(variance);
    DeterministicBits bits(++seed);
    ExpectFits(DrawWith<Int128>(kNumSamples, [&](auto out) { sampler.SampleDirect(bits, out); }),
               variance);
    ExpectFits(
        DrawWith<Int128>(kNumSamples, [&](auto out) { sampler.SampleBricks(12, bits, out); }),
        variance);
    ExpectFits(
        DrawWith<Int128>(kNumSamples, [&](auto out) { sampler.SampleBricks(16, bits, out); }),
        variance);
  }
}

// Whatever the batch, through the entry point the rest of the library uses.
TEST(DiscreteGaussian, EveryBatchSizeFits) {
  const Rational variance(12345, 67);
  uint64_t seed = 400;
  for (const size_t batch : {1, 27, 150, 151, 1000, 5001, 30001}) {
    DeterministicBits bits(++seed);
    ExpectFits(DrawWith<int64_t>(kNumSamples,
                                 [&](auto out) {
                                   for (size_t i = 0; i < out.size(); i += batch) {
                                     const size_t count = std::min(batch, out.size() - i);
                                     SampleDiscreteGaussian(variance, bits, out.subspan(i, count));
                                   }
                                 }),
               variance);
  }
}

TEST(DiscreteGaussian, SecureBitsFit) {
  // Not reproducible: fails once in 10^12 runs if all is well.
  std::vector<int64_t> out(kNumSamples);
  SampleDiscreteGaussian(Rational(10000), ThreadSecureBits(), out);
  EXPECT_TRUE(FitsDiscreteGaussian(std::span<const int64_t>(out), Rational(10000), 1e-12));
}

// At variance 1/100, P(x != 0) = 2 exp(-50): a million draws are all 0.
TEST(DiscreteGaussian, TinyVarianceIsZero) {
  const DiscreteGaussianSampler sampler(Rational(1, 100));
  DeterministicBits bits(500);
  std::vector<int64_t> out(kNumSamples, 7);
  sampler.SampleDirect(bits, out);
  EXPECT_EQ(std::count(out.begin(), out.end(), 0), static_cast<long>(kNumSamples));
  for (const int log2_bricks : {12, 16}) {
    std::fill(out.begin(), out.end(), 7);
    sampler.SampleBricks(log2_bricks, bits, out);
    EXPECT_EQ(std::count(out.begin(), out.end(), 0), static_cast<long>(kNumSamples));
  }
}

// Draws from the two tail bricks, counted on each side in eight intervals of `scale` integers each
// from X0 on, the last of them unbounded.
struct TailCounts {
  std::array<double, 16> counts{};
  double start;  // X0
  double scale;
};

TailCounts CountTails(const DiscreteGaussianSampler& sampler, const BrickTable& table) {
  TailCounts tails;
  tails.start = std::ldexp(table.num_columns, table.log2_width);
  tails.scale = std::max(1.0, std::floor(0.4 * sampler.variance().get_d() / tails.start));
  const uint64_t right = table.interior.size() + table.edges.size();
  DeterministicBits bits(600);
  BitReader reader(bits);
  for (size_t i = 0; i < 4 * kNumSamples; ++i) {
    const bool negative = i % 2 == 1;
    const BrickOutcome outcome =
        ResolveBrick(table, sampler.acceptance(), right + (negative ? 1 : 0), 0, reader);
    if (!outcome.accepted) continue;
    const auto x = static_cast<double>(outcome.value);
    const double distance = negative ? -x - tails.start - 1 : x - tails.start;
    EXPECT_GE(distance, 0);
    const auto interval = static_cast<size_t>(std::min(7.0, std::floor(distance / tails.scale)));
    tails.counts[(negative ? 8 : 0) + interval] += 1;
  }
  return tails;
}

// Given |x| beyond X0, P(x) is proportional to f(x).
bool TailsFit(const TailCounts& tails, double variance, double alpha) {
  std::array<double, 16> expected{};
  double weights = 0;
  double accepted = 0;
  for (double d = 0; d < 60 * tails.scale; ++d) {
    const auto interval = static_cast<size_t>(std::min(7.0, std::floor(d / tails.scale)));
    for (const size_t side : {0u, 1u}) {
      const double x = tails.start + d + static_cast<double>(side);
      const double f = std::exp((tails.start * tails.start - x * x) / (2 * variance));
      expected[8 * side + interval] += f;
      weights += f;
    }
  }
  for (const double count : tails.counts) accepted += count;
  double statistic = 0;
  int degrees = -1;
  for (size_t i = 0; i < 16; ++i) {
    const double e = expected[i] / weights * accepted;
    if (e < 5) continue;
    statistic += (tails.counts[i] - e) * (tails.counts[i] - e) / e;
    ++degrees;
  }
  return ChiSquareTail(statistic, degrees) >= alpha;
}

// The tail bricks, which a million draws hardly reach, by drawing nothing else.
TEST(DiscreteGaussian, TailsFit) {
  for (const double variance : {3.0, 400.0, 1e8}) {
    const DiscreteGaussianSampler sampler{Rational(variance)};
    const TailCounts tails = CountTails(sampler, sampler.Bricks(12));
    EXPECT_TRUE(TailsFit(tails, variance, kAlpha)) << variance;
    EXPECT_FALSE(TailsFit(tails, 1.03 * variance, kAlpha)) << variance;
    EXPECT_FALSE(TailsFit(tails, 0.97 * variance, kAlpha)) << variance;
  }
}

TEST(DiscreteGaussian, CacheSharesOneSamplerAndSurvivesOverflow) {
  const auto first = CachedDiscreteGaussian(Rational(7, 2));
  EXPECT_EQ(first, CachedDiscreteGaussian(Rational(7, 2)));
  for (int i = 1; i <= 600; ++i) CachedDiscreteGaussian(Rational(i));
  EXPECT_EQ(CachedDiscreteGaussian(Rational(7, 2))->variance(), Rational(7, 2));
  EXPECT_EQ(first->variance(), Rational(7, 2));
}

TEST(DiscreteGaussian, ThreadsShareTables) {
  const DiscreteGaussianSampler sampler(Rational(1000));
  std::vector<std::vector<int64_t>> outs(4, std::vector<int64_t>(100000));
  std::vector<std::thread> threads;
  for (auto& out : outs) {
    threads.emplace_back([&] { sampler.Sample(ThreadSecureBits(), out); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& out : outs) {
    EXPECT_TRUE(FitsDiscreteGaussian(std::span<const int64_t>(out), Rational(1000), 1e-12));
  }
  EXPECT_NE(outs[0], outs[1]);
}

template <typename Out>
std::string ErrorOf(const Rational& variance, ErrorKind kind) {
  DeterministicBits bits(1);
  std::vector<Out> out(10);
  try {
    SampleDiscreteGaussian(variance, bits, std::span<Out>(out));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "";
}

TEST(DiscreteGaussian, RefusesVariancesOutOfRange) {
  for (const Rational& variance : {Rational(0), Rational(-4), Rational(99, 10000)}) {
    EXPECT_NE(ErrorOf<int64_t>(variance, ErrorKind::kBadInput).find("variance"), std::string::npos);
    EXPECT_NE(ErrorOf<Int128>(variance, ErrorKind::kBadInput).find("variance"), std::string::npos);
    EXPECT_THROW(DiscreteGaussianVariance(variance), Error);
  }
  const Rational tiny(1, 1000000);
  EXPECT_EQ(ErrorOf<int64_t>(PowerOfTwo(112), ErrorKind::kTooLarge), "");
  EXPECT_NE(ErrorOf<int64_t>(PowerOfTwo(112) + tiny, ErrorKind::kTooLarge).find("128-bit"),
            std::string::npos);
  EXPECT_EQ(ErrorOf<Int128>(PowerOfTwo(126), ErrorKind::kTooLarge), "");
  EXPECT_NE(ErrorOf<Int128>(PowerOfTwo(126) + tiny, ErrorKind::kTooLarge).find("2^126"),
            std::string::npos);
  EXPECT_THROW(DiscreteGaussianVariance(PowerOfTwo(126) + tiny), Error);
}

// A draw beyond 64 bits is an error. The script makes one: i = 63 + 64 + 5 steps of 1.18 2^56 are
// 2^63.3, f there is 2^-17400, and the coin is all zeros for longer than that.
TEST(DiscreteGaussian, NeverWraps) {
  const DiscreteGaussianSampler sampler(PowerOfTwo(112));
  std::vector<uint64_t> script(700, 0);
  script[1] = uint64_t{1} << 40;
  // The other attempts of the first round are all rejected.
  for (size_t i = 3; i < 3 * kMaxAttempts; ++i) script[i] = ~uint64_t{0};
  script[3 * kMaxAttempts + 1] = 1 << 5;
  {
    ScriptedBits bits(script, 1);
    std::vector<Int128> out(20);
    sampler.SampleDirect(bits, out);
    EXPECT_GT(out[0], static_cast<Int128>(INT64_MAX));
  }
  ScriptedBits bits(script, 1);
  std::vector<int64_t> out(20);
  EXPECT_THROW(sampler.SampleDirect(bits, out), Error);
}

TEST(DiscreteGaussianVariance, IsTheSum) {
  for (const Rational& parameter :
       {Rational(1, 100), Rational(1, 10), Rational(1, 5), Rational(201, 1000), Rational(1, 2),
        Rational(1), Rational(3, 2), Rational(10), Rational(1000, 3)}) {
    const long double v = parameter.get_num().get_d() / (long double)parameter.get_den().get_d();
    long double weight = 0;
    long double sum = 0;
    for (long x = 400; x >= -400; --x) {
      const long double square = static_cast<long double>(x) * x;
      const long double f = std::exp(-square / (2 * v));
      weight += f;
      sum += square * f;
    }
    const double expected = static_cast<double>(sum / weight);
    // Half a unit in the last place for each of the two roundings.
    EXPECT_NEAR(DiscreteGaussianVariance(parameter), expected, 3e-16 * expected) << double(v);
  }
}

TEST(DiscreteGaussianVariance, LargeParameterIsTheVariance) {
  EXPECT_EQ(DiscreteGaussianVariance(Rational(100)), 100.0);
  EXPECT_EQ(DiscreteGaussianVariance(PowerOfTwo(126)), std::ldexp(1.0, 126));
  EXPECT_EQ(DiscreteGaussianVariance(Rational(31, 3)), 31.0 / 3.0);
  EXPECT_LT(DiscreteGaussianVariance(Rational(1)), 1.0);
}

}  // namespace
}  // namespace residua
