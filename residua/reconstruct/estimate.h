#pragma once

#include <optional>

namespace residua {

// An unbiased estimate and its exact variance.
struct Estimate {
  double value = 0;
  double variance = 0;
};

struct Interval {
  double lower = 0;
  double upper = 0;
};

// The z with P(|Z| <= z) = `confidence` for a standard normal Z, to a few units of the last
// place. A confidence that is not strictly between 0 and 1 is Error{kBadInput}.
double TwoSidedQuantile(double confidence);

// value -+ TwoSidedQuantile(confidence) standard deviations. The variance is exact; the shape is
// not quite: an estimate's error is a weighted sum of independent discrete Gaussians, each of
// which is within exp(-2 pi^2 v) of a normal variable's moments at parameter v, and coarse only if
// a single one of parameter below 1 dominates.
Interval ConfidenceInterval(const Estimate& estimate, double confidence);

// Estimates of a + b and a - b, given the covariance of a and b.
Estimate SumOf(const Estimate& a, const Estimate& b, double covariance);
Estimate DifferenceOf(const Estimate& a, const Estimate& b, double covariance);

// For the ratio of the quantities that a and b estimate (Fieller 1954): all r for which a - r b is
// within its confidence interval around 0. It holds the true ratio with the stated confidence,
// whatever b's relative error. Nothing if b is not significantly different from 0: then there is no
// bounded interval with this confidence.
std::optional<Interval> RatioInterval(const Estimate& a, const Estimate& b, double covariance,
                                      double confidence);

}  // namespace residua
