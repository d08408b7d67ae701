#pragma once

#include <vector>

#include "residua/base/rational.h"

namespace residua {

// `count` mechanisms, each an integer vector of squared L2 sensitivity `squared_sensitivity` (for
// one row added or removed) plus independent discrete Gaussians of variance parameter `variance`.
struct PricedMechanism {
  Integer count;
  Integer squared_sensitivity;
  Rational variance;
};

// Error{kRefused} unless it is positive: noise of no variance hides nothing, and a negative one
// would pay for the others.
void CheckNoiseVariance(const Rational& variance);

// sum of count * squared_sensitivity / variance, exactly. Half of it is the rho of zCDP
// (Canonne, Kamath, Steinke 2020, Theorem 14, and composition).
// Knows nothing of plans, bases or floating point: it is what a release is judged by.
Rational ExactPcost(const std::vector<PricedMechanism>& mechanisms);

}  // namespace residua
