// Nanoseconds per draw, one thread: our discrete Gaussian, a plain CKS sampler in 128-bit integers,
// std::normal_distribution, and the random bits alone, which bound them all from below.
//   sampler_bench                       everything, in under a minute
//   sampler_bench --benchmark_filter=Discrete
// gamma^2 is the variance; gamma is the label of each line.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "residua/base/int128.h"
#include "residua/noise/bit_source.h"
#include "residua/noise/discrete_gaussian.h"
#include "residua/noise/secure_bits.h"

namespace residua {
namespace {

// gamma = numerator / denominator.
struct Gamma {
  int64_t numerator;
  int64_t denominator;
};
constexpr Gamma kGammas[] = {{1, 2}, {3, 1}, {50, 1}, {1000, 1}, {1000000, 1}, {1000000000, 1}};

Rational Variance(const Gamma& gamma) {
  const Rational ratio(gamma.numerator, gamma.denominator);
  return ratio * ratio;
}

// Canonne, Kamath and Steinke (2020), Algorithms 1 to 3, as published, except with 128-bit integers
// instead of unbounded ones, and with the same bits.
class PlainCks {
 public:
  PlainCks(const Gamma& gamma, BitReader& reader)
      : gamma_(gamma),
        scale_(static_cast<UInt128>(gamma.numerator / gamma.denominator) + 1),
        reader_(reader) {}

  int64_t Draw() {
    const auto num = static_cast<UInt128>(gamma_.numerator);
    const auto den = static_cast<UInt128>(gamma_.denominator);
    for (;;) {
      const Int128 y = DiscreteLaplace();
      // exp(-(|y| - gamma^2 / t)^2 / (2 gamma^2)), with gamma = num / den.
      const UInt128 left = static_cast<UInt128>(y < 0 ? -y : y) * scale_ * den * den;
      const UInt128 right = num * num;
      const UInt128 gap = left > right ? left - right : right - left;
      // gap^2 / (2 num^2 den^2 t^2) in two exact steps, as gap^2 may pass 128 bits.
      const UInt128 base = num * den * scale_;
      const UInt128 whole = gap / base;
      const UInt128 rest = gap % base;
      if (BernoulliExpHalfSquare(whole, rest, base)) return static_cast<int64_t>(y);
    }
  }

 private:
  UInt128 Uniform(UInt128 bound) {
    if (bound <= UINT64_MAX) {
      const auto narrow = static_cast<uint64_t>(bound);
      const uint64_t threshold = (0 - narrow) % narrow;
      for (;;) {
        const UInt128 product = static_cast<UInt128>(reader_.Next()) * narrow;
        if (static_cast<uint64_t>(product) >= threshold) return product >> 64;
      }
    }
    const UInt128 threshold = (0 - bound) % bound;
    for (;;) {
      const UInt128 high = reader_.Next();
      const UInt128 word = (high << 64) | reader_.Next();
      if (word >= threshold) return word % bound;
    }
  }

  // exp(-numerator / denominator), numerator <= denominator.
  bool BernoulliExpFraction(UInt128 numerator, UInt128 denominator) {
    uint64_t k = 1;
    while (Uniform(denominator) < numerator && Uniform(k) == 0) ++k;
    return k % 2 == 1;
  }

  // exp(-(whole + rest / base)^2 / 2) = exp(-whole^2 / 2) exp(-whole rest / base)
  // exp(-(rest / base)^2 / 2).
  bool BernoulliExpHalfSquare(UInt128 whole, UInt128 rest, UInt128 base) {
    for (UInt128 i = 0; i < whole * whole; ++i) {
      if (!BernoulliExpFraction(1, 2)) return false;
    }
    for (UInt128 i = 0; i < whole; ++i) {
      if (!BernoulliExpFraction(rest, base)) return false;
    }
    // (rest / base)^2 / 2 as the product of two coins per step.
    uint64_t k = 1;
    while (Uniform(base) < rest && Uniform(base) < rest && Uniform(2 * k) == 0) ++k;
    return k % 2 == 1;
  }

  // P(y) proportional to exp(-|y| / t).
  Int128 DiscreteLaplace() {
    for (;;) {
      const UInt128 u = Uniform(scale_);
      if (!BernoulliExpFraction(u, scale_)) continue;
      UInt128 v = 0;
      while (BernoulliExpFraction(1, 1)) ++v;
      const auto magnitude = static_cast<Int128>(u + scale_ * v);
      const bool negative = (reader_.Next() & 1) != 0;
      if (negative && magnitude == 0) continue;
      return negative ? -magnitude : magnitude;
    }
  }

  Gamma gamma_;
  UInt128 scale_;  // t = floor(gamma) + 1
  BitReader& reader_;
};

// A standard generator on the same secure bits.
class SecureEngine {
 public:
  using result_type = uint64_t;
  explicit SecureEngine(BitReader& reader) : reader_(reader) {}
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return UINT64_MAX; }
  uint64_t operator()() { return reader_.Next(); }

 private:
  BitReader& reader_;
};

void CountDraws(benchmark::State& state, int64_t batch) {
  state.SetItemsProcessed(state.iterations() * batch);
  state.counters["per_draw"] =
      benchmark::Counter(static_cast<double>(batch), benchmark::Counter::kIsIterationInvariantRate |
                                                         benchmark::Counter::kInvert);
}

std::string GammaLabel(const Gamma& gamma) {
  return fmt::format("gamma={:g}",
                     static_cast<double>(gamma.numerator) / static_cast<double>(gamma.denominator));
}

void BenchDiscreteGaussian(benchmark::State& state) {
  const Gamma gamma = kGammas[state.range(0)];
  const Rational variance = Variance(gamma);
  std::vector<int64_t> out(static_cast<size_t>(state.range(1)));
  BitSource& bits = ThreadSecureBits();
  SampleDiscreteGaussian(variance, bits, out);
  for (auto _ : state) {
    SampleDiscreteGaussian(variance, bits, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetLabel(GammaLabel(gamma));
  CountDraws(state, state.range(1));
}

// As above, but nothing is cached: what the first call with a variance costs.
void BenchFirstCall(benchmark::State& state) {
  const Gamma gamma = kGammas[state.range(0)];
  const Rational variance = Variance(gamma);
  std::vector<int64_t> out(static_cast<size_t>(state.range(1)));
  BitSource& bits = ThreadSecureBits();
  for (auto _ : state) {
    DiscreteGaussianSampler(variance).Sample(bits, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetLabel(GammaLabel(gamma));
  CountDraws(state, state.range(1));
}

void BenchPlainCks(benchmark::State& state) {
  const Gamma gamma = kGammas[state.range(0)];
  std::vector<int64_t> out(static_cast<size_t>(state.range(1)));
  BitReader reader(ThreadSecureBits());
  PlainCks sampler(gamma, reader);
  for (auto _ : state) {
    for (int64_t& value : out) value = sampler.Draw();
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetLabel(GammaLabel(gamma));
  CountDraws(state, state.range(1));
}

void BenchStdNormal(benchmark::State& state) {
  const Gamma gamma = kGammas[state.range(0)];
  std::vector<double> out(static_cast<size_t>(state.range(1)));
  BitReader reader(ThreadSecureBits());
  SecureEngine engine(reader);
  std::normal_distribution<double> normal(
      0.0, static_cast<double>(gamma.numerator) / static_cast<double>(gamma.denominator));
  for (auto _ : state) {
    for (double& value : out) value = normal(engine);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetLabel(GammaLabel(gamma));
  CountDraws(state, state.range(1));
}

void BenchStdNormalMersenne(benchmark::State& state) {
  std::vector<double> out(static_cast<size_t>(state.range(0)));
  std::mt19937_64 engine(1);
  std::normal_distribution<double> normal(0.0, 50.0);
  for (auto _ : state) {
    for (double& value : out) value = normal(engine);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  CountDraws(state, state.range(0));
}

// The limit: 64-bit words per nanosecond, read the way the samplers read them.
void BenchSecureBits(benchmark::State& state) {
  std::vector<uint64_t> out(static_cast<size_t>(state.range(0)));
  BitReader reader(ThreadSecureBits());
  for (auto _ : state) {
    reader.Read(out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  CountDraws(state, state.range(0));
}

void GammasByBatches(benchmark::internal::Benchmark* bench,
                     std::initializer_list<int64_t> batches) {
  bench->ArgNames({"gamma_index", "batch"});
  for (int64_t gamma = 0; gamma < 6; ++gamma) {
    for (const int64_t batch : batches) bench->Args({gamma, batch});
  }
}

void AllBatches(benchmark::internal::Benchmark* bench) {
  GammasByBatches(bench, {27, 1000, 10000000});
}

void SmallBatches(benchmark::internal::Benchmark* bench) { GammasByBatches(bench, {27, 1000}); }

// A fifth of a second each keeps the whole run below a minute.
constexpr double kSeconds = 0.2;

BENCHMARK(BenchSecureBits)->Arg(256)->Arg(1000000)->MinTime(kSeconds);
BENCHMARK(BenchDiscreteGaussian)->Apply(AllBatches)->MinTime(kSeconds);
BENCHMARK(BenchFirstCall)->Apply(SmallBatches)->MinTime(kSeconds);
BENCHMARK(BenchPlainCks)->Apply(AllBatches)->MinTime(kSeconds);
BENCHMARK(BenchStdNormal)->Apply(AllBatches)->MinTime(kSeconds);
BENCHMARK(BenchStdNormalMersenne)->Arg(1000)->MinTime(kSeconds);

}  // namespace
}  // namespace residua

BENCHMARK_MAIN();
