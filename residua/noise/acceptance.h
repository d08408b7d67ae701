#pragma once

#include <cstdint>

#include "residua/base/int128.h"
#include "residua/base/rational.h"
#include "residua/noise/bit_source.h"
#include "residua/noise/decay_rate.h"

namespace residua {

// How far Exp2Fixed(kappa x^2 - shift) may be from 2^shift f(x), in units of 2^-64, for
// shift <= kMaxShift: below 93 by the proof in docs/sampler.md, "One acceptance test".
inline constexpr uint64_t kErrorBudget = 96;
inline constexpr int kMaxShift = 64;

// The coin of every rejection step: with f(x) = exp(-x^2 / (2 variance)) and V uniform on [0, 1),
//   level + V < height 2^shift f(x),
// decided exactly. 64-bit integers with an error budget decide all but about height 2^-56 of the
// coins; the rest are decided in directed-rounding arithmetic, with as many bits of V as it takes.
class Acceptance {
 public:
  // All budgets from kErrorBudget up give the same decisions; a larger one only takes the exact
  // path more often.
  Acceptance(const Rational& variance, uint64_t error_budget);

  const DecayRate& rate() const { return rate_; }

  // Integers around 2^64 height 2^shift f(x). Needs |x| = `magnitude` < 2^127, `height` <= 2^32, 0
  // <= `shift` <= kMaxShift and 2^shift f(x) <= 1.
  struct Bounds {
    UInt128 lower;
    UInt128 upper;
  };
  Bounds Enclose(UInt128 magnitude, uint64_t height, int shift) const {
    return Enclose(Exp2Fixed(Exponent(magnitude, shift)), height);
  }

  // The two halves of Enclose, for loops that do the exponentials of many values together.
  FixedPoint Exponent(UInt128 magnitude, int shift) const {
    FixedPoint y = scaled_square_(magnitude);
    if (y.integer < static_cast<uint64_t>(shift)) [[unlikely]] {
      // kappa x^2 >= shift, and only its rounding can be below.
      CheckRoundedFrom(y, shift);
      return {0, 0};
    }
    y.integer -= static_cast<uint64_t>(shift);
    return y;
  }
  Bounds Enclose(uint64_t power, uint64_t height) const {
    constexpr UInt128 kOne = static_cast<UInt128>(1) << 64;
    const uint64_t lower = power > error_budget_ ? power - error_budget_ : 0;
    const UInt128 upper = static_cast<UInt128>(power) + error_budget_;
    return {static_cast<UInt128>(lower) * height, (upper < kOne ? upper : kOne) * height};
  }

  // As Enclose; `shift` may be any number from 0 up.
  bool Accept(UInt128 magnitude, uint64_t height, uint64_t level, int shift,
              BitReader& reader) const {
    const uint64_t v = reader.Next();
    if (shift <= kMaxShift) [[likely]] {
      const Bounds bounds = Enclose(magnitude, height, shift);
      const UInt128 point = (static_cast<UInt128>(level) << 64) + v;
      if (point < bounds.lower) return true;  // V < (v + 1) / 2^64
      if (point >= bounds.upper) return false;
    }
    return AcceptExactly(magnitude, height, level, shift, v, reader);
  }

  // The same coin with the first 64 bits of V given. Draws more of them only if those do not
  // decide. Ends with probability 1, after one round except with probability 2^-60.
  bool AcceptExactly(UInt128 magnitude, uint64_t height, uint64_t level, int shift, uint64_t v,
                     BitReader& reader) const;

 private:
  static void CheckRoundedFrom(FixedPoint y, int shift);

  Rational variance_;
  DecayRate rate_;
  ScaledSquare scaled_square_;
  uint64_t error_budget_;
};

}  // namespace residua
