#pragma once

#include <gmpxx.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "residua/base/int128.h"

namespace residua {

// Exact numbers. Every number that a privacy guarantee depends on is one of these, never a double.
using Integer = mpz_class;
using Rational = mpq_class;

// GMP takes a long, which has 32 bits on some platforms.
Integer ToInteger(int64_t value);
Integer WideToInteger(UInt128 value);

// Reads "3", "-2", "1/3", "0.1", "2.5e-3" exactly. `what` names the value in the error message.
Rational ParseRational(std::string_view text, std::string_view what);

// The decimal a person would have typed for this double: 0.1 becomes 1/10, not 0.1's binary value.
// Not-a-number and infinities are bad input.
Rational RationalFromDecimal(double value, std::string_view what);

// "3" or "1/3", in lowest terms; ParseRational reads it back.
std::string ToString(const Rational& value);

// The nearest doubles not below and not above `value`; infinities where it is out of range.
double ToDoubleUp(const Rational& value);
double ToDoubleDown(const Rational& value);

Integer Binomial(uint64_t n, uint64_t k);

// A value that is not negative, in at most `digits` significant digits. TextAbove is never below
// the value, and TextBelow is never above it. What is promised or spent is written with TextAbove,
// what is granted with TextBelow.
inline constexpr int kTextDigits = 6;
std::string TextAbove(const Rational& value, int digits = kTextDigits);
std::string TextBelow(const Rational& value, int digits = kTextDigits);

// What was spent, rounded up, and what was granted, rounded down. They have more digits where the
// first would otherwise look larger than the second although it is not: "0.3333333333" and
// "0.3333333333".
struct SpentText {
  std::string spent;
  std::string granted;
};
SpentText TextOfSpent(const Rational& spent, const Rational& granted);

}  // namespace residua
