#include "residua/draft/round_cuts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "residua/base/error.h"

namespace residua {
namespace {

constexpr size_t kEnoughCuts = 5;

// digits * 10^exponent, correctly rounded, so that it prints as short as it is written here.
double Decimal(int64_t digits, int exponent) {
  return std::strtod(fmt::format("{}e{}", digits, exponent).c_str(), nullptr);
}

int DecimalExponent(double value) { return static_cast<int>(std::floor(std::log10(value))); }

void SortUnique(std::vector<double>* values) {
  std::sort(values->begin(), values->end());
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

// Members of `sorted` at `count` equal steps between its ends.
std::vector<double> Quantiles(const std::vector<double>& sorted, size_t count) {
  std::vector<double> quantiles;
  for (size_t k = 1; k <= count; ++k) {
    quantiles.push_back(sorted[k * (sorted.size() - 1) / (count + 1)]);
  }
  return quantiles;
}

// The nearest of 1, 2, 2.5 and 5 times a power of ten.
double RoundToLeadingDigits(double value, bool whole) {
  if (value == 0) return 0;
  const int exponent = DecimalExponent(std::abs(value));
  double nearest = value;
  double distance = std::abs(value);
  for (const int64_t digits : {10, 20, 25, 50, 100}) {
    const double candidate = Decimal(digits, exponent - 1);
    if (!std::isfinite(candidate) || (whole && candidate != std::trunc(candidate))) continue;
    if (std::abs(candidate - std::abs(value)) < distance) {
      distance = std::abs(candidate - std::abs(value));
      nearest = std::copysign(candidate, value);
    }
  }
  return nearest;
}

// The nearest multiple of digits * 10^exponent, or the value itself where there is none.
double RoundToStep(double value, int64_t digits, int exponent) {
  constexpr double kMaxMultiple = 1e15;  // times 100 still fits 64 bits
  const double multiple = std::round(value / Decimal(digits, exponent));
  if (!(std::abs(multiple) <= kMaxMultiple)) return value;
  const double rounded = Decimal(static_cast<int64_t>(multiple) * digits, exponent);
  return std::isfinite(rounded) ? rounded : value;
}

template <typename Round>
std::vector<double> Rounded(std::vector<double> values, const Round& round) {
  for (double& value : values) value = round(value);
  SortUnique(&values);
  return values;
}

}  // namespace

std::vector<double> RoundCuts(std::vector<double> sample, bool whole) {
  RESIDUA_CHECK(!sample.empty());
  std::sort(sample.begin(), sample.end());
  std::vector<double> points = Quantiles(sample, 9);
  SortUnique(&points);
  if (points.size() < kEnoughCuts) {
    // A few values have most of the rows: divide the range by its different values as well.
    SortUnique(&sample);
    const std::vector<double> spread = Quantiles(sample, kEnoughCuts);
    points.insert(points.end(), spread.begin(), spread.end());
    SortUnique(&points);
  }
  const size_t enough = std::min(points.size(), kEnoughCuts);
  std::vector<double> cuts =
      Rounded(points, [&](double value) { return RoundToLeadingDigits(value, whole); });
  if (cuts.size() >= enough) return cuts;
  // Halves, so that the difference of two doubles is a double.
  const int largest = DecimalExponent(points.back() / 2 - points.front() / 2) + 1;
  constexpr int kMaxDigits = 17;  // a double has no more
  for (int exponent = largest; exponent > largest - kMaxDigits; --exponent) {
    for (const int64_t digits : {50, 25, 20, 10}) {
      const double step = Decimal(digits, exponent - 1);
      if (!(step > 0) || (whole && step != std::trunc(step))) continue;
      cuts =
          Rounded(points, [&](double value) { return RoundToStep(value, digits, exponent - 1); });
      if (cuts.size() >= enough) return cuts;
    }
  }
  return points;
}

}  // namespace residua
