#include "residua/select/solvers/closed_form.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/select/solvers/linear_noise.h"

namespace residua {

// A table of very many attributes can ask so little of a mechanism that the product of its
// coefficients underflows; this floor keeps its noise finite, and its share of the loss nil. It is
// relative to the largest demand, or small weights of all tables would raise the bound.
constexpr double kLeastDemand = 1e-280;

namespace {

double DemandFloor(std::span<const double> demand) {
  return std::max(kLeastDemand * *std::max_element(demand.begin(), demand.end()),
                  std::numeric_limits<double>::min());
}

// With r_i = sqrt(demand_i / cost_i) / prior_i, a mechanism has tau_i = 0 exactly if s >= r_i, where
// s = sqrt(theta) solves, over the others,
//   s = sum_i sqrt(cost_i demand_i) / (budget + sum_i cost_i prior_i).
// Those of the largest r_i are taken in first. Each raises s, and stays above it, because the new s
// lies between the old one and its r_i; the first whose r_i is not above s ends it.
double SolveLinearAfter(std::span<const double> cost, std::span<const double> demand, double budget,
                        std::span<double> noise_variance, std::span<const double> prior) {
  const double floor = DemandFloor(demand);
  const auto wanted = [&](size_t i) { return std::max(demand[i], floor); };
  std::vector<std::pair<double, size_t>> order;  // by r_i, the largest first
  for (size_t i = 0; i < cost.size(); ++i) {
    order.emplace_back(prior[i] > 0 ? std::sqrt(wanted(i) / cost[i]) / prior[i]
                                    : std::numeric_limits<double>::infinity(),
                       i);
  }
  std::sort(order.rbegin(), order.rend());
  double root_sum = 0;
  double spent = budget;
  double s = 0;
  for (const auto& [ratio, i] : order) {
    if (root_sum > 0 && ratio <= root_sum / spent) break;
    root_sum += std::sqrt(cost[i] * wanted(i));
    spent += cost[i] * prior[i];
    s = root_sum / spent;
  }
  RESIDUA_CHECK(std::isfinite(s) && s > 0);
  double loss = 0;
  for (const auto& [ratio, i] : order) {
    noise_variance[i] = ratio > s ? s * std::sqrt(cost[i] / wanted(i)) : 1 / prior[i];
    loss += wanted(i) * noise_variance[i];
  }
  return loss;
}

}  // namespace

double SolveLinear(std::span<const double> cost, std::span<const double> demand, double budget,
                   std::span<double> noise_variance, std::span<const double> prior) {
  if (!prior.empty()) return SolveLinearAfter(cost, demand, budget, noise_variance, prior);
  const double floor = DemandFloor(demand);
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
                          std::span<const double> weight, double budget,
                          std::span<const double> prior) {
  NoiseSolution solution;
  std::vector<double> demand(cost.size());
  MultiplyTransposed(matrix, weight, demand);
  solution.noise_variance.resize(cost.size());
  solution.loss = SolveLinear(cost, demand, budget, solution.noise_variance, prior);
  solution.lower_bound = solution.loss;
  solution.converged = true;
  return solution;
}

}  // namespace residua
