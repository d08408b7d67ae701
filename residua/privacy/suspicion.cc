#include "residua/privacy/suspicion.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "residua/privacy/budget.h"

namespace residua {
namespace {

// Covers the rounding of exp and of the few operations after it.
constexpr double kRoundingMargin = 1e-14;

constexpr int kMostDecimals = 7;

}  // namespace

double GrownSuspicion(double prior, double epsilon) {
  if (!(prior >= 0 && prior <= 1) || !(epsilon >= 0)) return 1;
  if (prior == 0) return 0;
  const double odds_against = (1 - prior) / prior * std::exp(-epsilon);
  return std::min(1.0, (1 + kRoundingMargin) / (1 + odds_against));
}

std::string PercentAbove(double probability) {
  if (!(probability < 1)) return "100 %";
  for (int decimals = 1; decimals <= kMostDecimals; ++decimals) {
    const double scale = std::pow(10.0, decimals);
    const double shown = std::ceil(probability * 100 * scale) / scale;
    if (shown < 100) return fmt::format("{:.{}f} %", shown, decimals);
  }
  return "100 %";
}

std::string OneIn(double delta) {
  // Beyond this, digits say more than zeros.
  if (!(delta > 1e-15)) return DeltaText(delta);
  const double of = 1 / delta * (1 + 1e-12);
  // Two digits, rounded down.
  const double unit = of < 100 ? 1 : std::pow(10, std::floor(std::log10(of)) - 1);
  std::string digits = fmt::format("{:.0f}", std::max(1.0, std::floor(of / unit) * unit));
  for (size_t k = digits.size(); k > 3; k -= 3) digits.insert(k - 3, 1, ',');
  return "1 in " + digits;
}

}  // namespace residua
