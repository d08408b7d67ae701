#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/base/int128.h"
#include "residua/base/rational.h"

namespace residua {

// Probability that a chi-square variable of `degrees` degrees of freedom is at least `statistic`.
double ChiSquareTail(double statistic, int degrees);

// False if `samples` are improbable, at significance `alpha` (a right sampler is called wrong with
// probability alpha), as independent draws of the discrete Gaussian with parameter `variance`.
// Three chi-square tests, each at alpha / 3:
//   fit: some 64 intervals of about equal probability;
//   low bits: x mod 16, where the variance is large enough for it to be uniform;
//   independence: the quartiles of successive draws, against each other.
// Power: with a million samples, a variance that is off by 3 % is rejected by the first test with
// probability above 1 - 1e-9 at alpha = 1e-6, from variance 1/4 up (noncentrality about 4.5e-4 per
// sample).
bool FitsDiscreteGaussian(std::span<const int64_t> samples, const Rational& variance, double alpha);
bool FitsDiscreteGaussian(std::span<const Int128> samples, const Rational& variance, double alpha);

}  // namespace residua
