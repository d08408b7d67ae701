#pragma once

#include <optional>

namespace residua {

enum class Rounding { kNearest, kDown, kUp };

// More decimals than this are not rounded to; powers of ten are exact doubles up to 10^22.
inline constexpr int kMaxDecimals = 18;
// What WriteRounded writes at most: a sign, the 309 digits of the largest double, a point,
// decimals.
inline constexpr int kMaxRoundedChars = 1 + 309 + 1 + kMaxDecimals;

// The decimals that show three digits below the first digit of `std_dev`: 3 for 2.71, 5 for 0.05,
// none from 1,000 on. Nothing if it has no first digit or asks for more than kMaxDecimals.
std::optional<int> SupportedDecimals(double std_dev);

// Writes a finite `value` with `decimals` decimals, at most kMaxDecimals, and returns the end of
// the text. It is the exact value of the double that is rounded: to the nearest, ties to even, or
// down or up. Zero has no sign.
char* WriteRounded(double value, int decimals, Rounding rounding, char* out);

}  // namespace residua
