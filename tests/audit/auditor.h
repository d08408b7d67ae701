#pragma once

#include <Eigen/Dense>
#include <functional>
#include <optional>
#include <string>

namespace residua::audit {

// What a reader sees of a release: the noisy numbers, and as text everything that must not depend
// on the data: the order of sets, the width of their values, names, columns and row groups of
// files.
struct Published {
  Eigen::VectorXd numbers;
  std::string structure;
};

// Releases a data set once more, with noise of its own.
using Release = std::function<Published()>;

// The first line in which the structures of any two of `count` releases of each data set differ:
// all releases of neighbouring data sets must have the same structure.
std::optional<std::string> StructuralDifference(const Release& with, const Release& without,
                                                int count);

struct AuditOptions {
  int num_training = 10'000;
  int num_testing = 60'000;
  double failure_probability = 1e-4;  // of a bound above the truth
  // f is clipped at this value, so that exp(f) has a bounded range and its mean can be bounded. A
  // bound is at most twice this.
  double cut_off = 3.5;
};

// A lower confidence bound on the rho that the releases of two neighbouring data sets show, without
// any knowledge of the mechanism: rho-zCDP bounds the Kullback-Leibler divergence of either from
// the other by rho, and for any bounded f (Donsker and Varadhan)
//   KL(P, Q) >= E_P f - log E_Q exp(f).
// f is the linear discriminant of a training set, clipped; both means are bounded by their
// empirical Bernstein inequalities (Maurer and Pontil, 2009) on fresh releases. No matter what f
// is, the bound holds with the stated confidence. It is infinite if two structures differ.
double LowerBoundOnRho(const Release& with, const Release& without,
                       const AuditOptions& options = {});

// The same of Gaussian and of (epsilon, delta) privacy, from the event that the discriminant is
// above a threshold t: with p its probability with, and q without,
//   mu >= Phi^-1(p) - Phi^-1(q) (Dong, Roth and Su 2022), at t = 0;
//   delta >= p - e^epsilon q, at t = epsilon; and the same with both data sets exchanged.
// Each probability is bounded as above.
struct CurveBounds {
  double mu = 0;
  double delta = 0;  // at the epsilon asked for
};
CurveBounds LowerBoundsOnCurve(const Release& with, const Release& without, double epsilon,
                               const AuditOptions& options = {});

}  // namespace residua::audit
