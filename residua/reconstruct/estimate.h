#pragma once

#include <optional>

namespace residua {

// An unbiased estimate and its exact variance. `half_step` is how far the steps of coarse noise can
// move its law from a normal one (HalfStep); 0 for noise on fine lattices.
struct Estimate {
  double value = 0;
  double variance = 0;
  double half_step = 0;
};

struct Interval {
  double lower = 0;
  double upper = 0;
};

// The z with P(|Z| <= z) = `confidence` for a standard normal Z, to a few units of the last
// place. A confidence that is not strictly between 0 and 1 is Error{kBadInput}.
double TwoSidedQuantile(double confidence);

// How far an interval reaches to either side: `quantile` standard deviations and the half step.
// Noise whose standard deviation is small beside its steps is mostly 0, and its standard deviation
// says little of the rest: 0.4 steps are taken for it at least.
double IntervalReach(double quantile, double variance, double half_step);

// How much further that is than `quantile` standard deviations, for the answers of a table whose
// least variance and largest half step these are.
double IntervalWidening(double quantile, double least_variance, double half_step);

// value -+ IntervalReach at TwoSidedQuantile(confidence). An estimate's error is a
// weighted sum of independent discrete Gaussians. On the lattices of plans of format 2 each has
// 2000 steps or more to a standard deviation, so that a normal's quantiles cover what they state up
// to 2e-4; on the whole numbers of format 1 the half step makes up for the lattice
// (docs/reconstruction.md).
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
// The same with so many standard deviations of a - r b to either side.
std::optional<Interval> RatioIntervalAt(const Estimate& a, const Estimate& b, double covariance,
                                        double quantile);

}  // namespace residua
