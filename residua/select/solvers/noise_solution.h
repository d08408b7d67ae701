#pragma once

#include <stop_token>
#include <vector>

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
  double tolerance = 1e-6;     // on loss / lower_bound - 1
  int max_iterations = 60000;  // many rows may attain the largest variance, nearly
  std::stop_token stop = {};
};

}  // namespace residua
