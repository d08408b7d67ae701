#pragma once

#include <Eigen/Dense>
#include <functional>

namespace residua::audit {

// Releases a data set once more, with noise of its own, and gives the published numbers.
using Release = std::function<Eigen::VectorXd()>;

struct AuditOptions {
  int num_training = 10'000;
  int num_testing = 60'000;
  double failure_probability = 1e-4;  // of a bound above the truth
  // f is cut off here: exp(f) then has a range that its mean can be bounded by. A bound is at most
  // twice this.
  double cut_off = 3.5;
};

// A lower confidence bound on the rho that two neighbouring data sets' releases show, knowing
// nothing of the mechanism: rho-zCDP bounds the Kullback-Leibler divergence of either from the
// other by rho, and for any bounded f (Donsker and Varadhan)
//   KL(P, Q) >= E_P f - log E_Q exp(f).
// f is the linear discriminant of a training set, cut off; both means are bounded by their
// empirical Bernstein inequalities (Maurer and Pontil, 2009) on fresh releases. No matter what f
// is, the bound holds with the stated confidence.
double LowerBoundOnRho(const Release& with, const Release& without,
                       const AuditOptions& options = {});

}  // namespace residua::audit
