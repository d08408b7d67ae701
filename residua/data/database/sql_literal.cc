#include "residua/data/database/sql_literal.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace residua {

std::string SqlInteger(int64_t value) {
  return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
}

std::string PostgresText(std::string_view text) {
  std::string literal = "E'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') literal += c;
    literal += c;
  }
  return literal + "'";
}

std::string SqliteDouble(double value) {
  if (std::isinf(value)) return value > 0 ? "9e999" : "(-9e999)";
  int exponent = 0;
  auto significand = static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  exponent -= 53;
  while (significand != 0 && significand % 2 == 0 && exponent < 0) {
    significand /= 2;
    ++exponent;
  }
  if (significand == 0) return "0.0";
  std::string literal = fmt::format("(CAST({} AS REAL)", significand);
  while (exponent != 0) {
    const int step = std::min(std::abs(exponent), 62);
    literal += fmt::format(" {} CAST({} AS REAL)", exponent < 0 ? '/' : '*', int64_t{1} << step);
    exponent += exponent < 0 ? step : -step;
  }
  return literal + ")";
}

}  // namespace residua
