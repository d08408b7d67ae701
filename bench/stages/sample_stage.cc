#include <benchmark/benchmark.h>
#include <tbb/parallel_for.h>

#include <memory>

#include "bench/limits.h"
#include "bench/stages/stage.h"
#include "residua/base/threads.h"
#include "residua/noise/discrete_gaussian.h"
#include "residua/noise/secure_bits.h"

namespace residua::bench {
namespace {

// Passes secure bits on and counts the words.
class CountingBits final : public BitSource {
 public:
  void Fill(std::span<uint64_t> words) override {
    num_words_ += static_cast<int64_t>(words.size());
    ThreadSecureBits().Fill(words);
  }
  int64_t num_words() const { return num_words_; }

 private:
  int64_t num_words_ = 0;
};

// How many words the sampler takes on average for a batch like this.
double WordsPerDraw(const Rational& variance, size_t batch) {
  CountingBits bits;
  std::vector<int64_t> out(batch);
  const size_t num_batches = 1 + 1'000'000 / batch;
  for (size_t k = 0; k < num_batches; ++k) SampleDiscreteGaussian(variance, bits, out);
  return static_cast<double>(bits.num_words()) / static_cast<double>(num_batches * batch);
}

constexpr int64_t kDraws = 1'000'000;

// kDraws draws, in batches, divided among the threads.
StagePoint PointOf(double x, const Rational& variance, size_t batch, int num_threads) {
  const auto per_thread = static_cast<size_t>(kDraws / num_threads);
  const auto words =
      static_cast<int64_t>(WordsPerDraw(variance, batch) * static_cast<double>(per_thread));
  const auto on_threads = [num_threads](const auto& work) {
    Threads(num_threads).Run([&] {
      tbb::parallel_for(
          0, num_threads, [&](int) { work(); }, tbb::simple_partitioner());
    });
  };
  return {x, Timed([=] {
            on_threads([&] {
              std::vector<int64_t> out(batch);
              for (size_t done = 0; done < per_thread; done += batch) {
                SampleDiscreteGaussian(variance, ThreadSecureBits(), out);
                benchmark::DoNotOptimize(out.data());
              }
            });
          }),
          Timed([=] { on_threads([&] { DrawWords(words); }); })};
}

constexpr const char* kLimit = "the random words that it reads";

Growth Scales() {
  Growth growth{"sample", "standard deviation", "a million draws in batches of 10,000, one thread",
                kLimit};
  for (const int64_t gamma : {1, 10, 100, 10'000, 1'000'000, 1'000'000'000}) {
    const Rational scale(gamma);
    growth.points.push_back(PointOf(static_cast<double>(gamma), scale * scale, 10'000, 1));
  }
  return growth;
}

Growth Batches() {
  Growth growth{"sample", "batch", "a million draws of standard deviation 100, one thread", kLimit};
  for (const size_t batch : {10, 100, 1'000, 10'000, 100'000, 1'000'000}) {
    growth.points.push_back(PointOf(static_cast<double>(batch), Rational(10'000), batch, 1));
  }
  return growth;
}

Growth Threads() {
  Growth growth{"sample", "threads", "a million draws of standard deviation 100, batches of 10,000",
                kLimit};
  for (const int count : ThreadCounts()) {
    growth.points.push_back(PointOf(count, Rational(10'000), 10'000, count));
  }
  return growth;
}

}  // namespace

std::vector<MakeGrowth> SampleGrowths() { return {Scales, Batches, Threads}; }

}  // namespace residua::bench
