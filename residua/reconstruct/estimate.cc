#include "residua/reconstruct/estimate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "residua/base/error.h"

namespace residua {

double TwoSidedQuantile(double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    Fail(ErrorKind::kBadInput, "a confidence of {}; it must lie between 0 and 1", confidence);
  }
  if (confidence < 0.5) {
    // Newton's method on erf(z / sqrt 2) = confidence. erf is concave, so it climbs to the root
    // from below; the start is within 8 %, and each step about squares the relative error.
    double z = confidence * std::sqrt(std::numbers::pi / 2);
    for (int step = 0; step < 8; ++step) {
      const double density = std::sqrt(2 / std::numbers::pi) * std::exp(-z * z / 2);
      z -= (std::erf(z / std::numbers::sqrt2) - confidence) / density;
    }
    return z;
  }
  // Bisection on erfc(z / sqrt 2) = 1 - confidence, which is exact here: to neighbouring doubles.
  const double tail = 1 - confidence;
  double low = 0;
  double high = 40;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    if (std::erfc(middle / std::numbers::sqrt2) > tail) {
      low = middle;
    } else {
      high = middle;
    }
  }
}

double IntervalReach(double quantile, double variance, double half_step) {
  return quantile * std::max(std::sqrt(variance), 0.8 * half_step) + half_step;
}

double IntervalWidening(double quantile, double least_variance, double half_step) {
  return IntervalReach(quantile, least_variance, half_step) - quantile * std::sqrt(least_variance);
}

Interval ConfidenceInterval(const Estimate& estimate, double confidence) {
  const double reach =
      IntervalReach(TwoSidedQuantile(confidence), estimate.variance, estimate.half_step);
  return {estimate.value - reach, estimate.value + reach};
}

Estimate SumOf(const Estimate& a, const Estimate& b, double covariance) {
  return {a.value + b.value, std::max(0.0, a.variance + b.variance + 2 * covariance),
          a.half_step + b.half_step};
}

Estimate DifferenceOf(const Estimate& a, const Estimate& b, double covariance) {
  return {a.value - b.value, std::max(0.0, a.variance + b.variance - 2 * covariance),
          a.half_step + b.half_step};
}

std::optional<Interval> RatioInterval(const Estimate& a, const Estimate& b, double covariance,
                                      double confidence) {
  return RatioIntervalAt(a, b, covariance, TwoSidedQuantile(confidence));
}

std::optional<Interval> RatioIntervalAt(const Estimate& a, const Estimate& b, double covariance,
                                        double quantile) {
  const double z = quantile;
  // (a - r b)^2 <= z^2 (var_a - 2 r cov + r^2 var_b): square r^2 - 2 linear r + constant <= 0.
  const double square = b.value * b.value - z * z * b.variance;
  const double linear = a.value * b.value - z * z * covariance;
  const double constant = a.value * a.value - z * z * a.variance;
  if (!(square > 0)) return std::nullopt;
  const double root = std::sqrt(std::max(0.0, linear * linear - square * constant));
  return Interval{(linear - root) / square, (linear + root) / square};
}

}  // namespace residua
