#include "residua/noise/discrete_gaussian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include "residua/base/error.h"

namespace residua {
namespace {

// Where preparing a larger table starts to pay (measured; bench/sampler_bench.cc).
constexpr size_t kMaxDirectDraws = 150;
constexpr size_t kMaxDrawsOf12 = 5000;
constexpr size_t kMaxDrawsOf14 = 30000;

// Up to this variance a table has so few columns that it is built in microseconds, and pays at
// once.
constexpr long kMaxCheapTableVariance = 16;

// A sampler holds up to 200 KB of tables.
constexpr size_t kMaxCachedSamplers = 256;

// Random words taken at a time by the brick loop: 2 KB, on the stack.
constexpr size_t kBlockWords = 256;

const Rational& Validated(const Rational& variance) {
  CheckDiscreteGaussianVariance(variance);
  return variance;
}

template <typename Out>
Out Narrow(Int128 value) {
  if constexpr (std::is_same_v<Out, int64_t>) {
    if (value < std::numeric_limits<int64_t>::min() ||
        value > std::numeric_limits<int64_t>::max()) {
      Fail(ErrorKind::kTooLarge, "noise: a draw of magnitude above 2^63 does not fit 64 bits");
    }
  }
  return static_cast<Out>(value);
}

template <typename Out>
void CheckFits(const Rational& variance) {
  if (std::is_same_v<Out, int64_t> && variance > MaxNarrowDiscreteGaussianVariance()) {
    Fail(ErrorKind::kTooLarge, "variance: {:.6g} is above 2^{}; draw it into 128-bit integers",
         variance.get_d(), kLog2MaxNarrowVariance);
  }
}

// A block of random words on the stack, wiped when it is no longer needed.
struct RandomBlock {
  ~RandomBlock() { Wipe(words.data(), used * sizeof(uint64_t)); }

  std::array<uint64_t, kBlockWords> words;
  size_t used = 0;
};

// Draws from `table`, `kBits` bits of a random word at a time (128: two words), log2_bricks of them
// the brick and log2_width the place within it. A rejected draw is followed by another *for the
// same slot*: if rejected slots were filled in later, a draw's position would depend on its value.
template <int kBits, typename Out>
void FillFromBricks(const BrickTable& table, const Acceptance& acceptance, BitSource& bits,
                    std::span<Out> out) {
  constexpr size_t kDrawsPerWord = kBits < 64 ? 64 / kBits : 1;
  constexpr size_t kWordsPerDraw = kBits > 64 ? 2 : 1;
  const int log2_bricks = table.log2_bricks;
  const int log2_width = table.log2_width;
  const uint64_t brick_mask = (uint64_t{1} << log2_bricks) - 1;
  const uint64_t offset_mask = (uint64_t{1} << log2_width) - 1;
  const uint64_t num_interior = table.interior.size();
  const int16_t* const interior = table.interior.data();

  BitReader reader(bits);
  RandomBlock block;
  Out* slot = out.data();
  Out* const end = slot + out.size();
  while (slot != end) {
    const auto left = static_cast<size_t>(end - slot);
    const size_t num_words =
        std::min(kBlockWords, (left + kDrawsPerWord - 1) / kDrawsPerWord * kWordsPerDraw);
    block.used = std::max(block.used, num_words);
    reader.Read(std::span(block.words).first(num_words));
    for (size_t i = 0; i < num_words; i += kWordsPerDraw) {
      uint64_t word = block.words[i];
      for (size_t draw = 0; draw < kDrawsPerWord; ++draw) {
        const uint64_t brick = word & brick_mask;
        const uint64_t offset =
            (kBits > 64 ? block.words[i + 1] : word >> log2_bricks) & offset_mask;
        if (brick < num_interior) [[likely]] {
          *slot++ = (static_cast<Out>(interior[brick]) << log2_width) + static_cast<Out>(offset);
        } else {
          const BrickOutcome outcome = ResolveBrick(table, acceptance, brick, offset, reader);
          if (outcome.accepted) *slot++ = Narrow<Out>(outcome.value);
        }
        if constexpr (kBits < 64) {
          if (slot == end) break;
          word >>= kBits;
        }
      }
    }
  }
}

template <typename Out>
void SampleFromBricks(const BrickTable& table, const Acceptance& acceptance, BitSource& bits,
                      std::span<Out> out) {
  // Interior and edge bricks cannot leave the output type.
  RESIDUA_CHECK(static_cast<UInt128>(table.num_columns) << table.log2_width <=
                static_cast<UInt128>(std::numeric_limits<int64_t>::max()) *
                    (std::is_same_v<Out, int64_t> ? 1 : 1024));
  const int num_bits = table.log2_bricks + table.log2_width;
  if (num_bits <= 16) {
    FillFromBricks<16>(table, acceptance, bits, out);
  } else if (num_bits <= 32) {
    FillFromBricks<32>(table, acceptance, bits, out);
  } else if (num_bits <= 64) {
    FillFromBricks<64>(table, acceptance, bits, out);
  } else {
    FillFromBricks<128>(table, acceptance, bits, out);
  }
}

template <typename Out>
void SampleDirectly(const DirectProposal& direct, const Acceptance& acceptance, BitSource& bits,
                    std::span<Out> out) {
  BitReader reader(bits);
  DirectDraws draws;
  while (!out.empty()) {
    // Slightly more than half of the attempts succeed. What is left over at the end is dropped: the
    // draws kept are the first of a sequence of independent ones.
    AttemptDirect(direct, acceptance, std::min(kMaxAttempts, 2 * out.size() + 2), reader, &draws);
    const size_t count = std::min(draws.count, out.size());
    for (size_t i = 0; i < count; ++i) out[i] = Narrow<Out>(draws.values[i]);
    out = out.subspan(count);
  }
}

template <typename Out>
void SampleByCount(const DiscreteGaussianSampler& sampler, BitSource& bits, std::span<Out> out) {
  if (!sampler.PaysForTable(out.size())) {
    sampler.SampleDirect(bits, out);
  } else if (out.size() <= kMaxDrawsOf12) {
    sampler.SampleBricks(12, bits, out);
  } else if (out.size() <= kMaxDrawsOf14) {
    sampler.SampleBricks(14, bits, out);
  } else {
    sampler.SampleBricks(16, bits, out);
  }
}

}  // namespace

DiscreteGaussianSampler::DiscreteGaussianSampler(const Rational& variance, uint64_t error_budget)
    : variance_(Validated(variance)),
      acceptance_(variance, error_budget),
      direct_(MakeDirectProposal(variance)) {}

bool DiscreteGaussianSampler::PaysForTable(size_t count) const {
  if (count > kMaxDirectDraws || variance_ <= kMaxCheapTableVariance) return true;
  // It does no harm if two threads both see a number below the limit.
  if (num_direct_draws_.load(std::memory_order_relaxed) > kMaxDirectDraws) return true;
  num_direct_draws_.fetch_add(count, std::memory_order_relaxed);
  return false;
}

const BrickTable& DiscreteGaussianSampler::Bricks(int log2_bricks) const {
  RESIDUA_CHECK(log2_bricks >= kMinLog2Bricks && log2_bricks <= kMaxLog2Bricks);
  LazyTable& lazy = tables_[static_cast<size_t>(log2_bricks - kMinLog2Bricks)];
  std::call_once(lazy.once, [&] {
    // Bounds on f with the proven budget, whatever budget the coins are decided with.
    const Acceptance acceptance(variance_, kErrorBudget);
    lazy.table = std::make_unique<const BrickTable>(
        MakeBrickTable(acceptance, std::sqrt(variance_.get_d()), log2_bricks));
  });
  return *lazy.table;
}

void DiscreteGaussianSampler::Sample(BitSource& bits, std::span<int64_t> out) const {
  SampleByCount(*this, bits, out);
}

void DiscreteGaussianSampler::Sample(BitSource& bits, std::span<Int128> out) const {
  SampleByCount(*this, bits, out);
}

void DiscreteGaussianSampler::SampleDirect(BitSource& bits, std::span<int64_t> out) const {
  CheckFits<int64_t>(variance_);
  SampleDirectly(direct_, acceptance_, bits, out);
}

void DiscreteGaussianSampler::SampleDirect(BitSource& bits, std::span<Int128> out) const {
  SampleDirectly(direct_, acceptance_, bits, out);
}

void DiscreteGaussianSampler::SampleBricks(int log2_bricks, BitSource& bits,
                                           std::span<int64_t> out) const {
  CheckFits<int64_t>(variance_);
  SampleFromBricks(Bricks(log2_bricks), acceptance_, bits, out);
}

void DiscreteGaussianSampler::SampleBricks(int log2_bricks, BitSource& bits,
                                           std::span<Int128> out) const {
  SampleFromBricks(Bricks(log2_bricks), acceptance_, bits, out);
}

std::shared_ptr<const DiscreteGaussianSampler> CachedDiscreteGaussian(const Rational& variance) {
  // A thread mostly asks for the variance it asked for last.
  thread_local std::shared_ptr<const DiscreteGaussianSampler> last;
  if (last != nullptr && last->variance() == variance) return last;

  static std::mutex mutex;
  static auto& samplers = *new std::map<Rational, std::shared_ptr<const DiscreteGaussianSampler>>;
  const std::lock_guard lock(mutex);
  auto found = samplers.find(variance);
  if (found == samplers.end()) {
    auto sampler = std::make_shared<const DiscreteGaussianSampler>(variance);
    // Whoever uses a dropped sampler still owns it.
    if (samplers.size() >= kMaxCachedSamplers) samplers.clear();
    found = samplers.emplace(variance, std::move(sampler)).first;
  }
  last = found->second;
  return last;
}

void SampleDiscreteGaussian(const Rational& variance, BitSource& bits, std::span<int64_t> out) {
  CachedDiscreteGaussian(variance)->Sample(bits, out);
}

void SampleDiscreteGaussian(const Rational& variance, BitSource& bits, std::span<Int128> out) {
  CachedDiscreteGaussian(variance)->Sample(bits, out);
}

}  // namespace residua
