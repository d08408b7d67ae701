#include "residua/base/rational.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residua/base/error.h"

namespace residua {
namespace {

// Exponents beyond this are a typing error or an attack on memory, not a number someone means.
constexpr long kMaxDecimalExponent = 5000;

bool AllDigits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

Integer PowerOfTen(unsigned long exponent) {
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, exponent);
  return power;
}

// Parses digits[.digits][e[+-]digits]; false if `text` is anything else.
bool ParseDecimal(std::string_view text, Rational* value) {
  long exponent = 0;
  const size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view tail = text.substr(e + 1);
    const bool negative = !tail.empty() && tail.front() == '-';
    if (!tail.empty() && (tail.front() == '-' || tail.front() == '+')) tail.remove_prefix(1);
    if (!AllDigits(tail) || tail.size() > 6) return false;
    exponent = std::stol(std::string(tail));
    if (exponent > kMaxDecimalExponent) return false;
    if (negative) exponent = -exponent;
    text = text.substr(0, e);
  }
  std::string digits;
  const size_t point = text.find('.');
  if (point == std::string_view::npos) {
    digits = text;
  } else {
    const std::string_view fraction = text.substr(point + 1);
    digits = std::string(text.substr(0, point)) + std::string(fraction);
    exponent -= static_cast<long>(fraction.size());
  }
  if (!AllDigits(digits)) return false;
  const Integer mantissa(digits, 10);
  const Integer power = PowerOfTen(static_cast<unsigned long>(std::labs(exponent)));
  *value = exponent >= 0 ? Rational(mantissa * power) : Rational(mantissa, power);
  value->canonicalize();
  return true;
}

// floor(value / 2^e) for the e that leaves `bits` bits, and that e.
struct Truncated {
  Integer mantissa;
  long exponent;
};

Truncated Truncate(const Rational& value, int bits) {
  const long estimate = static_cast<long>(mpz_sizeinbase(value.get_num().get_mpz_t(), 2)) -
                        static_cast<long>(mpz_sizeinbase(value.get_den().get_mpz_t(), 2));
  for (long exponent = estimate - bits;; ++exponent) {
    Integer numerator = value.get_num();
    Integer denominator = value.get_den();
    if (exponent >= 0) {
      denominator <<= static_cast<unsigned long>(exponent);
    } else {
      numerator <<= static_cast<unsigned long>(-exponent);
    }
    Integer mantissa = numerator / denominator;
    if (static_cast<int>(mpz_sizeinbase(mantissa.get_mpz_t(), 2)) <= bits) {
      return {std::move(mantissa), exponent};
    }
  }
}

// One unit in the last of `digits` significant digits of a positive number.
double LastDigit(double value, int digits) {
  return std::max(std::pow(10.0, std::floor(std::log10(value)) - (digits - 1)),
                  std::numeric_limits<double>::denorm_min());
}

}  // namespace

Integer ToInteger(int64_t value) {
  if constexpr (sizeof(long) == sizeof(int64_t)) return static_cast<long>(value);
  return (Integer(static_cast<long>(value >> 32)) << 32) +
         Integer(static_cast<unsigned long>(value & 0xffffffff));
}

Integer WideToInteger(UInt128 value) {
  const auto bits_from = [&](int bit) {
    return ToInteger(static_cast<int64_t>((value >> bit) & 0x7fffffffffffffff));
  };
  return (((bits_from(126) << 63) + bits_from(63)) << 63) + bits_from(0);
}

Rational ParseRational(std::string_view text, std::string_view what) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  Rational value;
  bool parsed = false;
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos) {
    parsed = ParseDecimal(rest, &value);
  } else {
    Rational denominator;
    parsed = ParseDecimal(rest.substr(0, slash), &value) &&
             ParseDecimal(rest.substr(slash + 1), &denominator) && denominator != 0;
    if (parsed) value /= denominator;
  }
  if (!parsed) {
    Fail(ErrorKind::kBadInput, "{}: '{}' is not a number; write it like 2, 0.1, 1e-9 or 1/3", what,
         text);
  }
  return negative ? Rational(-value) : value;
}

Rational RationalFromDecimal(double value, std::string_view what) {
  if (!std::isfinite(value)) {
    Fail(ErrorKind::kBadInput, "{}: {} is not a finite number", what, value);
  }
  return ParseRational(fmt::format("{}", value), what);
}

std::string ToString(const Rational& value) { return value.get_str(); }

double ToDoubleDown(const Rational& value) {
  if (value == 0) return 0.0;
  if (value < 0) return -ToDoubleUp(-value);
  const Truncated t = Truncate(value, 53);
  const double result = std::ldexp(t.mantissa.get_d(), static_cast<int>(t.exponent));
  if (std::isinf(result)) return std::numeric_limits<double>::max();
  if (Rational(result) > value) return std::nextafter(result, 0.0);
  return result;
}

double ToDoubleUp(const Rational& value) {
  if (value <= 0) return -ToDoubleDown(-value) + 0.0;  // no negative zero
  const double down = ToDoubleDown(value);
  if (Rational(down) == value) return down;
  return std::nextafter(down, std::numeric_limits<double>::infinity());
}

std::string TextAbove(const Rational& value, int digits) {
  RESIDUA_CHECK(value >= 0);
  const double above = ToDoubleUp(value);
  std::string text = fmt::format("{:.{}g}", above, digits);
  if (!std::isfinite(above) || ParseRational(text, "a number") >= value) return text;
  return fmt::format("{:.{}g}", above + LastDigit(above, digits), digits);
}

std::string TextBelow(const Rational& value, int digits) {
  RESIDUA_CHECK(value >= 0);
  const double below = ToDoubleDown(value);
  std::string text = fmt::format("{:.{}g}", below, digits);
  if (ParseRational(text, "a number") <= value) return text;
  return fmt::format("{:.{}g}", below - LastDigit(below, digits), digits);
}

SpentText TextOfSpent(const Rational& spent, const Rational& granted) {
  constexpr int kMaxDigits = 15;  // that a double can tell apart
  for (int digits = kTextDigits; spent <= granted && digits <= kMaxDigits; ++digits) {
    SpentText text{TextAbove(spent, digits), TextBelow(granted, digits)};
    if (std::isinf(ToDoubleUp(spent)) ||
        ParseRational(text.spent, "a number") <= ParseRational(text.granted, "a number")) {
      return text;
    }
  }
  return {TextAbove(spent), TextBelow(granted)};
}

Integer Binomial(uint64_t n, uint64_t k) {
  Integer result;
  mpz_bin_uiui(result.get_mpz_t(), n, k);
  return result;
}

}  // namespace residua
