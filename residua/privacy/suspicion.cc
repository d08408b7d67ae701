#include "residua/privacy/suspicion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

}  // namespace residua
