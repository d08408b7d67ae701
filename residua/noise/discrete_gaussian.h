#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "residua/base/int128.h"
#include "residua/base/rational.h"
#include "residua/noise/acceptance.h"
#include "residua/noise/bit_source.h"
#include "residua/noise/brick_table.h"
#include "residua/noise/direct_proposal.h"

namespace residua {

// Fills `out` with independent draws of the discrete Gaussian,
//   P(x) = exp(-x^2 / (2 variance)) / sum over all integers z of exp(-z^2 / (2 variance)),
// exactly: no probability is rounded, given uniform `bits`. 1/100 <= `variance` <= 2^126, and
// <= 2^112 for 64-bit output; others are Error{kBadInput} and Error{kTooLarge}. A draw that does
// not fit 64 bits (128 standard deviations at least) is Error{kTooLarge}, never wrapped. Tables are
// kept between calls and shared by threads.
void SampleDiscreteGaussian(const Rational& variance, BitSource& bits, std::span<int64_t> out);
void SampleDiscreteGaussian(const Rational& variance, BitSource& bits, std::span<Int128> out);

// The variance of that distribution, to double precision. It is below `variance_parameter` by a
// relative 8 pi^2 v exp(-2 pi^2 v) or so: 2e-7 at v = 1, less than a double can show from v = 2.1
// on.
double DiscreteGaussianVariance(const Rational& variance_parameter);

// Everything that is computed once per variance. Its callers see no change, and threads that each
// have their own bits can share it.
class DiscreteGaussianSampler {
 public:
  // `error_budget`: see Acceptance.
  explicit DiscreteGaussianSampler(const Rational& variance, uint64_t error_budget = kErrorBudget);

  const Rational& variance() const { return variance_; }
  // Whether a table pays for `count` more draws; these are added to the number of draws so far.
  bool PaysForTable(size_t count) const;
  const Acceptance& acceptance() const { return acceptance_; }
  const DirectProposal& direct() const { return direct_; }

  // Built on first use.
  const BrickTable& Bricks(int log2_bricks) const;

  // Chooses between the two below by the variance, the size of `out` and the number of draws so
  // far: draws directly until a table would have paid for itself.
  void Sample(BitSource& bits, std::span<int64_t> out) const;
  void Sample(BitSource& bits, std::span<Int128> out) const;

  void SampleDirect(BitSource& bits, std::span<int64_t> out) const;
  void SampleDirect(BitSource& bits, std::span<Int128> out) const;
  void SampleBricks(int log2_bricks, BitSource& bits, std::span<int64_t> out) const;
  void SampleBricks(int log2_bricks, BitSource& bits, std::span<Int128> out) const;

 private:
  struct LazyTable {
    std::once_flag once;
    std::unique_ptr<const BrickTable> table;
  };

  Rational variance_;
  Acceptance acceptance_;
  DirectProposal direct_;
  mutable std::atomic<size_t> num_direct_draws_ = 0;
  mutable std::array<LazyTable, kMaxLog2Bricks - kMinLog2Bricks + 1> tables_;
};

// The sampler of `variance`, made on first use and kept while the cache has room.
std::shared_ptr<const DiscreteGaussianSampler> CachedDiscreteGaussian(const Rational& variance);

}  // namespace residua
