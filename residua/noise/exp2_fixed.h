#pragma once

#include <array>
#include <cstdint>

#include "residua/base/int128.h"

namespace residua {

// `integer` + `fraction` / 2^64.
struct FixedPoint {
  uint64_t integer;
  uint64_t fraction;
};

// kExp2Table[i] = floor(2^64 2^(-i/256)), but 2^64 - 1 for i = 0, where 2^64 does not fit.
extern const std::array<uint64_t, 256> kExp2Table;

// kExp2Coefficients[k-1] = floor(2^72 (ln2 / 256)^k / k!): the series of 1 - 2^(-v/256), up to
// sign. Scaled by 2^72, which still fits 64 bits, so that its rounding is far below the result's.
extern const std::array<uint64_t, 6> kExp2Coefficients;

inline uint64_t MultiplyHigh(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<UInt128>(a) * b) >> 64);
}

// |Exp2Fixed(y) - 2^64 2^-y| < kExp2Error for every y; proof in docs/sampler.md, "2^-y in
// integers".
inline constexpr uint64_t kExp2Error = 2;

inline uint64_t Exp2Fixed(FixedPoint y) {
  if (y.integer >= 64) return 0;
  const auto& c = kExp2Coefficients;
  const uint64_t v = y.fraction << 8;  // the fraction is (i + v / 2^64) / 256
  uint64_t series = c[5];
  series = c[4] - MultiplyHigh(v, series);
  series = c[3] - MultiplyHigh(v, series);
  series = c[2] - MultiplyHigh(v, series);
  series = c[1] - MultiplyHigh(v, series);
  series = c[0] - MultiplyHigh(v, series);
  series = MultiplyHigh(v, series);
  const uint64_t power = kExp2Table[y.fraction >> 56];
  return (power - (MultiplyHigh(power, series) >> 8)) >> y.integer;
}

}  // namespace residua
