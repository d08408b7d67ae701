#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "residua/base/rational.h"

namespace residua {

// The nearest double, the same that reading its decimals gives. GMP's own conversion truncates
// towards zero, so that 1/10 would not be the 0.1 of a list of cuts.
double NearestDouble(const Rational& value);

// All of `text` as a number; nothing if it is not a number. Integers have 64 bits. Numbers beyond
// the range of a double become zero or an infinity; "nan" and "inf" are numbers.
std::optional<int64_t> ParseInteger(std::string_view text);
std::optional<double> ParseNumber(std::string_view text);

// A decimal number in the one way of writing its value that has neither an exponent to choose nor
// zeros to spare: 1, 1.0, +01 and 100e-2 become "1e0". Nothing for other text, infinities included.
std::optional<std::string> CanonicalDecimal(std::string_view text);

// 2^63, the first double above every int64_t.
inline constexpr double kTwoTo63 = 9223372036854775808.0;

// A value of the data without the spaces and the plus sign that a number may have around it.
std::string_view TrimmedNumber(std::string_view text);

}  // namespace residua
