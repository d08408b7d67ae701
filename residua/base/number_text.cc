#include "residua/base/number_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace residua {

double NearestDouble(const Rational& value) {
  const double above = ToDoubleUp(value);
  const double below = ToDoubleDown(value);
  if (std::isinf(above) || std::isinf(below)) return std::isinf(above) ? above : below;
  const Rational to_above = Rational(above) - value;
  const Rational to_below = value - Rational(below);
  if (to_above != to_below) return to_above < to_below ? above : below;
  // Of two neighbours, one has an even significand.
  return std::bit_cast<uint64_t>(below) % 2 == 0 ? below : above;
}

std::string_view TrimmedNumber(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string> CanonicalDecimal(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const size_t end = std::min(text.find_first_of("eE"), text.size());
  int64_t exponent = 0;
  if (end < text.size()) {
    std::string_view exponent_text = text.substr(end + 1);
    if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
    const auto parsed = ParseInteger(exponent_text);
    // Beyond this no type of number goes, and sums of exponents stay exact.
    constexpr int64_t kMaxExponent = 1'000'000;
    if (!parsed || *parsed < -kMaxExponent || *parsed > kMaxExponent) return std::nullopt;
    exponent = *parsed;
  }
  std::string digits;
  bool has_point = false;
  bool has_digit = false;
  for (const char c : text.substr(0, end)) {
    if (c == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    has_digit = true;
    if (has_point) --exponent;
    if (c != '0' || !digits.empty()) digits += c;
  }
  if (!has_digit) return std::nullopt;
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  if (digits.empty()) return "0";
  return (is_negative ? "-" : "") + digits + "e" + std::to_string(exponent);
}

std::optional<double> ParseNumber(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    return std::nullopt;
  }
  // Beyond the range of a double: strtod tells whether it becomes zero or an infinity.
  if (error == std::errc::result_out_of_range) {
    return std::strtod(std::string(text).c_str(), nullptr);
  }
  return value;
}

}  // namespace residua
