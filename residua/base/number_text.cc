#include "residua/base/number_text.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace residua {

double NearestDouble(const Rational& value) {
  const double above = ToDoubleUp(value);
  const double below = ToDoubleDown(value);
  if (std::isinf(above) || std::isinf(below)) return std::isinf(above) ? above : below;
  return Rational(above) - value < value - Rational(below) ? above : below;
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
