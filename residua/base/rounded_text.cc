#include "residua/base/rounded_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "residua/base/error.h"

namespace residua {
namespace {

constexpr std::array<double, kMaxDecimals + 1> kPowersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

// Below this, doubles have halves, and whole numbers fit 64 bits.
constexpr double kTwoTo52 = 0x1p52;

// Decimals of the exact expansion of any double.
constexpr int kAllDecimals = 1074;

// The whole number that value * scale is rounded to, for a product below 2^52. With p the rounded
// product and e its error, the exact one is p + e, and |e| is at most half a unit in p's last
// place: it decides only where p itself is a whole number or halfway between two.
double RoundedProduct(double value, double scale, Rounding rounding) {
  const double p = value * scale;
  const auto error = [&] { return std::fma(value, scale, -p); };
  if (rounding == Rounding::kNearest) {
    const double nearest = std::nearbyint(p);
    if (std::abs(p - nearest) != 0.5) return nearest;
    const double e = error();
    return e == 0 ? nearest : p + std::copysign(0.5, e);
  }
  if (rounding == Rounding::kDown) {
    const double below = std::floor(p);
    return below == p && error() < 0 ? below - 1 : below;
  }
  const double above = std::ceil(p);
  return above == p && error() > 0 ? above + 1 : above;
}

char* WriteWhole(uint64_t whole, char* out) { return std::to_chars(out, out + 20, whole).ptr; }

// Whether what is cut off, the digits from `rest` on, takes the size of a number up.
bool RoundsAway(const char* rest, const char* end, char last_digit, bool is_negative,
                Rounding rounding) {
  const bool is_exact = std::string(rest, end).find_first_not_of('0') == std::string::npos;
  if (rounding == Rounding::kNearest) {
    if (rest == end || *rest != '5') return rest != end && *rest > '5';
    const bool is_tie = std::string(rest + 1, end).find_first_not_of('0') == std::string::npos;
    return !is_tie || (last_digit - '0') % 2 == 1;
  }
  return !is_exact && is_negative == (rounding == Rounding::kDown);
}

// By the exact decimal expansion.
char* WriteByExpansion(double value, int decimals, Rounding rounding, char* out) {
  std::array<char, 310 + kAllDecimals + 2> buffer;
  const char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                        std::abs(value), std::chars_format::fixed, kAllDecimals)
                              .ptr;
  const size_t num_whole = static_cast<size_t>(end - buffer.data()) - 1 - kAllDecimals;
  const size_t num_decimals = static_cast<size_t>(decimals);
  std::string digits(buffer.data(), num_whole);
  digits.append(buffer.data() + num_whole + 1, num_decimals);
  const bool is_negative = std::signbit(value);
  if (RoundsAway(buffer.data() + num_whole + 1 + num_decimals, end, digits.back(), is_negative,
                 rounding)) {
    size_t k = digits.size();
    while (k > 0 && digits[k - 1] == '9') digits[--k] = '0';
    if (k > 0) {
      ++digits[k - 1];
    } else {
      digits.insert(digits.begin(), '1');
    }
  }
  if (is_negative && digits.find_first_not_of('0') != std::string::npos) *out++ = '-';
  if (decimals > 0) digits.insert(digits.end() - decimals, '.');
  std::memcpy(out, digits.data(), digits.size());
  return out + digits.size();
}

}  // namespace

std::optional<int> SupportedDecimals(double std_dev) {
  if (!(std_dev > 0) || !std::isfinite(std_dev)) return std::nullopt;
  if (std_dev >= 1000) return 0;
  // std_dev is at least 10^(3 - decimals).
  for (int decimals = 1; decimals <= kMaxDecimals; ++decimals) {
    const double power = decimals <= 3 ? kPowersOfTen[static_cast<size_t>(3 - decimals)]
                                       : 1 / kPowersOfTen[static_cast<size_t>(decimals - 3)];
    if (std_dev >= power) return decimals;
  }
  return std::nullopt;
}

char* WriteRounded(double value, int decimals, Rounding rounding, char* out) {
  RESIDUA_CHECK(decimals >= 0 && decimals <= kMaxDecimals && std::isfinite(value));
  const double scale = kPowersOfTen[static_cast<size_t>(decimals)];
  if (!(std::abs(value * scale) < kTwoTo52)) {
    return WriteByExpansion(value, decimals, rounding, out);
  }
  const double rounded = RoundedProduct(value, scale, rounding);
  if (rounded < 0) *out++ = '-';
  const auto units = static_cast<uint64_t>(std::abs(rounded));
  if (decimals == 0) return WriteWhole(units, out);
  const auto per_whole = static_cast<uint64_t>(scale);
  const uint64_t whole = units / per_whole;
  out = WriteWhole(whole, out);
  *out++ = '.';
  uint64_t rest = units - whole * per_whole;
  for (int k = decimals; k-- > 0; rest /= 10) out[k] = static_cast<char>('0' + rest % 10);
  return out + decimals;
}

}  // namespace residua
