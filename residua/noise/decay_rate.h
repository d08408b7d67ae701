#pragma once

#include <cstdint>

#include "residua/base/int128.h"
#include "residua/base/rational.h"
#include "residua/noise/exp2_fixed.h"
#include "residua/noise/variance_limits.h"

namespace residua {

// Integers `lower` / 2^`bits` < ln 2 < `upper` / 2^`bits`.
struct Ln2Enclosure {
  Integer lower;
  Integer upper;
  unsigned bits;
};
Ln2Enclosure EncloseLn2(unsigned bits);
const Ln2Enclosure& Ln2To256Bits();  // computed once

// exp(-x^2 / (2 variance)) = 2^(-kappa x^2) with kappa = 1 / (2 ln2 variance), and
//   mantissa 2^-exponent <= kappa < (mantissa + 1) 2^-exponent,   2^63 <= mantissa < 2^64.
// For the variances above, 57 <= exponent <= 190.
struct DecayRate {
  uint64_t mantissa;
  int exponent;
};
DecayRate DecayRateOf(const Rational& variance);

// y = kappa x^2 in fixed point. |x| is first shifted left, and kappa's exponent raised by twice as
// much, to 182 or 183 (190 or 191 for the widest variances), so that the words of mantissa x^2 that
// hold y are the same for every variance.
class ScaledSquare {
 public:
  explicit ScaledSquare(const DecayRate& rate)
      : mantissa_(rate.mantissa),
        wide_(rate.exponent > 183),
        shift_(((wide_ ? 191 : 183) - rate.exponent) / 2),
        window_(rate.exponent + 2 * shift_ - 128) {}

  // floor(mantissa x^2 2^(64 - exponent)) / 2^64, which lies in (y - (2 y + 1) 2^-64, y]. Where the
  // shifted |x| does not fit 64 bits (80 for the widest), y is 256 or more, and so is the result.
  FixedPoint operator()(UInt128 magnitude) const {
    if (wide_) [[unlikely]]
      return Wide(magnitude);
    if (magnitude >> (64 - shift_) != 0) [[unlikely]]
      return {UINT64_MAX, 0};
    const uint64_t x = static_cast<uint64_t>(magnitude) << shift_;
    const UInt128 square = static_cast<UInt128>(x) * x;
    const UInt128 low = static_cast<UInt128>(mantissa_) * static_cast<uint64_t>(square);
    const UInt128 high =
        static_cast<UInt128>(mantissa_) * static_cast<uint64_t>(square >> 64) + (low >> 64);
    const auto word_1 = static_cast<uint64_t>(high);
    const auto word_2 = static_cast<uint64_t>(high >> 64);
    return {.integer = word_2 >> window_,
            .fraction = (word_1 >> window_) | (word_2 << (64 - window_))};
  }

 private:
  FixedPoint Wide(UInt128 magnitude) const {
    if (magnitude >> (80 - shift_) != 0) [[unlikely]]
      return {UINT64_MAX, 0};
    const UInt128 x = magnitude << shift_;
    const auto low = static_cast<uint64_t>(x);
    const auto high = static_cast<uint64_t>(x >> 64);
    // x^2 < 2^160 in words 0 to 2, the least significant first; then mantissa x^2 in words 0 to 3.
    const UInt128 square_0 = static_cast<UInt128>(low) * low;
    const UInt128 square_1 = (square_0 >> 64) + 2 * (static_cast<UInt128>(low) * high);
    const uint64_t square_2 = static_cast<uint64_t>(square_1 >> 64) + high * high;
    const UInt128 product_0 = static_cast<UInt128>(mantissa_) * static_cast<uint64_t>(square_0);
    const UInt128 product_1 =
        static_cast<UInt128>(mantissa_) * static_cast<uint64_t>(square_1) + (product_0 >> 64);
    const UInt128 product_2 = static_cast<UInt128>(mantissa_) * square_2 + (product_1 >> 64);
    const auto word_1 = static_cast<uint64_t>(product_1);
    const auto word_2 = static_cast<uint64_t>(product_2);
    const auto word_3 = static_cast<uint64_t>(product_2 >> 64);
    return {.integer = (word_2 >> window_) | (word_3 << (64 - window_)),
            .fraction = (word_1 >> window_) | (word_2 << (64 - window_))};
  }

  uint64_t mantissa_;
  bool wide_;
  int shift_;   // 0 to 63
  int window_;  // 54, 55, 62 or 63: y 2^64 is mantissa (x 2^shift)^2 / 2^(64 + window)
};

}  // namespace residua
