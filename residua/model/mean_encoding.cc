#include "residua/model/mean_encoding.h"

#include <fmt/core.h>

#include <algorithm>

#include "residua/base/error.h"
#include "residua/base/number_text.h"

namespace residua {
namespace {

// Whole numbers of up to 15 digits, and 10^15, are doubles, and so is all that is made of them
// below.
constexpr int kMaxDecimals = 15;

Integer PowerOfTen(int exponent) {
  Integer power = 1;
  for (int k = 0; k < exponent; ++k) power *= 10;
  return power;
}

int DecimalsOf(const Rational& value) {
  int decimals = 0;
  Rational rest = value;
  rest.canonicalize();
  for (; rest.get_den() != 1; rest *= 10, ++decimals) {
    if (decimals == kMaxDecimals) {
      Fail(ErrorKind::kBadInput, "has the number {}; it must be a decimal of at most {} digits",
           ToString(value), kMaxDecimals);
    }
  }
  return decimals;
}

int64_t InUnits(const Rational& value, int decimals) {
  const Rational units = value * PowerOfTen(decimals);
  if (units >= PowerOfTen(kMaxDecimals) || -units >= PowerOfTen(kMaxDecimals)) {
    Fail(ErrorKind::kBadInput,
         "has the number {} in steps of 10^-{}, which has more than {} digits", ToString(value),
         decimals, kMaxDecimals);
  }
  return static_cast<int64_t>(units.get_num().get_si());
}

}  // namespace

MeanEncoding MakeMeanEncoding(const Rational& low, const Rational& high, const Rational& step) {
  MeanEncoding numbers;
  numbers.decimals = std::max({DecimalsOf(low), DecimalsOf(high), DecimalsOf(step)});
  numbers.low = InUnits(low, numbers.decimals);
  numbers.high = InUnits(high, numbers.decimals);
  numbers.step = InUnits(step, numbers.decimals);
  return numbers;
}

std::string DecimalText(int64_t value, int decimals) {
  const auto bits = static_cast<uint64_t>(value);
  std::string digits = fmt::format("{:0{}}", value < 0 ? 0 - bits : bits, decimals + 1);
  if (decimals > 0) {
    digits.insert(digits.size() - static_cast<size_t>(decimals), ".");
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
  }
  return (value < 0 ? "-" : "") + digits;
}

double DecimalValue(int64_t value, int decimals) {
  Rational exact(ToInteger(value) * PowerOfTen(-decimals), PowerOfTen(decimals));
  exact.canonicalize();
  return NearestDouble(exact);
}

}  // namespace residua
