#include "residua/select/solvers/closed_form.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residua/base/error.h"
#include "residua/select/solvers/linear_noise.h"

namespace residua {

// A table of very many attributes can ask so little of a mechanism that the product of its
// coefficients underflows; this floor keeps its noise finite, and its share of the loss nil. It is
// relative to the largest demand, or small weights of all tables would raise the bound.
constexpr double kLeastDemand = 1e-280;

double SolveLinear(std::span<const double> cost, std::span<const double> demand, double budget,
                   std::span<double> noise_variance) {
  const double floor = std::max(kLeastDemand * *std::max_element(demand.begin(), demand.end()),
                                std::numeric_limits<double>::min());
  double root_sum = 0;
  for (size_t i = 0; i < cost.size(); ++i) {
    root_sum += std::sqrt(cost[i] * std::max(demand[i], floor));
  }
  RESIDUA_CHECK(std::isfinite(root_sum) && root_sum > 0);
  for (size_t i = 0; i < cost.size(); ++i) {
    noise_variance[i] = root_sum / budget * std::sqrt(cost[i] / std::max(demand[i], floor));
  }
  return root_sum * root_sum / budget;
}

NoiseSolution MinimizeSum(const VarianceMatrix& matrix, std::span<const double> cost,
                          std::span<const double> weight, double budget) {
  NoiseSolution solution;
  std::vector<double> demand(cost.size());
  MultiplyTransposed(matrix, weight, demand);
  solution.noise_variance.resize(cost.size());
  solution.loss = SolveLinear(cost, demand, budget, solution.noise_variance);
  solution.lower_bound = solution.loss;
  solution.converged = true;
  return solution;
}

}  // namespace residua
