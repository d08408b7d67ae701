#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "residua/base/int128.h"
#include "residua/base/rational.h"
#include "residua/noise/acceptance.h"
#include "residua/noise/bit_source.h"

namespace residua {

// Rejection from two one-sided geometric staircases: |x| = i `step` + j + [x < 0], the sign a fair
// coin, i with probability 2^-(i+1), j uniform on [0, `step`), accepted with probability 2^i f(x).
// `step`^2 kappa >= 1 makes f(i step) <= 2^(-i^2) <= 2^-i, so that this is a probability. Needs no
// table: about two proposals per draw, whatever the variance.
struct DirectProposal {
  uint64_t step;
  uint64_t uniform_threshold;  // 2^64 mod step
};
DirectProposal MakeDirectProposal(const Rational& variance);

// Makes `num_attempts` <= kMaxAttempts attempts, of which about half are accepted, and leaves those
// in `draws`, in the order they were made. Attempts are independent of each other, so that the
// processor works on several at a time. |value| < 2^80.
inline constexpr size_t kMaxAttempts = 16;
struct DirectDraws {
  std::array<Int128, kMaxAttempts + 1> values;  // one more, which a rejected attempt overwrites
  size_t count;
};
void AttemptDirect(const DirectProposal& proposal, const Acceptance& acceptance,
                   size_t num_attempts, BitReader& reader, DirectDraws* draws);

}  // namespace residua
