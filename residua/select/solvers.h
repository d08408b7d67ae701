#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "residua/select/variance_matrix.h"

namespace residua {

// The noise variances sigma2 solve
//   minimise  loss(variances of the rows)   subject to   sum_i cost[i] / sigma2[i] <= budget,
// with `loss` >= `lower_bound` proven for every feasible choice. `converged` says whether
// loss / lower_bound - 1 came within the tolerance asked for.
struct NoiseSolution {
  std::vector<double> noise_variance;
  double loss = 0;
  double lower_bound = 0;
  int iterations = 0;
  bool converged = false;
};

struct SolverOptions {
  double tolerance = 1e-6;  // on loss / lower_bound - 1
  int max_iterations = 20000;
  std::stop_token stop = {};
};

// loss = sum_j weight[j] * variance_j, in closed form (the paper's lemma on weighted sums).
NoiseSolution MinimizeSum(const VarianceMatrix& matrix, std::span<const double> cost,
                          std::span<const double> weight, double budget);

// loss = max_j weight[j] * variance_j, by multiplicative updates of the dual, drawn out.
NoiseSolution MinimizeMax(const VarianceMatrix& matrix, std::span<const double> cost,
                          std::span<const double> weight, double budget,
                          const SolverOptions& options);

// loss(variances, gradient): convex, non-decreasing and differentiable.
using RowLoss = std::function<double(std::span<const double>, std::span<double>)>;
NoiseSolution MinimizeConvex(const VarianceMatrix& matrix, std::span<const double> cost,
                             const RowLoss& loss, double budget, const SolverOptions& options);

// (sum_j weight[j] * variance_j^p)^(1/p), p >= 1, for MinimizeConvex.
RowLoss PNormLoss(std::vector<double> weight, double p);

}  // namespace residua
