#include <algorithm>
#include <cmath>
#include <limits>

#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/select/linear_noise.h"
#include "residua/select/solvers.h"

namespace residua {
namespace {

// The exponent of the multiplicative step. Near 2 it converges fastest where it converges; it
// is halved when the dual falls, and creeps back while it rises.
constexpr double kFirstExponent = 1.8;
constexpr double kLargestExponent = 2.5;
constexpr double kExponentGrowth = 1.1;
// A dual weight below this fraction of the whole moves no bound that a double can show.
constexpr double kLeastDualWeight = 1e-18;

}  // namespace

// Dual: for weights w >= 0 on the rows with sum 1, T(w) = (sum_i sqrt(cost_i (M^T w)_i))^2 / budget
// bounds the optimum from below and is concave; its noise attains some maximum U >= T from above.
// Rows that exceed T gain weight, the others lose it.
NoiseSolution MinimizeMax(const VarianceMatrix& matrix, std::span<const double> cost,
                          std::span<const double> weight, double budget,
                          const SolverOptions& options) {
  const auto num_rows = static_cast<size_t>(matrix.num_rows());
  RESIDUA_CHECK(num_rows > 0);
  std::vector<double> dual(num_rows, 1.0 / static_cast<double>(num_rows));
  std::vector<double> step_from(num_rows);
  std::vector<double> row_demand(num_rows);
  std::vector<double> demand(cost.size());
  std::vector<double> noise(cost.size());
  std::vector<double> variance(num_rows);

  NoiseSolution best;
  best.loss = std::numeric_limits<double>::infinity();
  double accepted_bound = 0;
  double exponent = kFirstExponent;
  std::vector<double> accepted_ratio(num_rows);
  for (best.iterations = 1; best.iterations <= options.max_iterations; ++best.iterations) {
    CheckNotStopped(options.stop);
    for (size_t j = 0; j < num_rows; ++j) row_demand[j] = dual[j] * weight[j];
    MultiplyTransposed(matrix, row_demand, demand);
    const double bound = SolveLinear(cost, demand, budget, noise);
    Multiply(matrix, noise, variance);
    double loss = 0;
    for (size_t j = 0; j < num_rows; ++j) {
      variance[j] *= weight[j];
      loss = std::max(loss, variance[j]);
    }
    RESIDUA_CHECK(std::isfinite(loss));
    if (loss < best.loss) {
      best.loss = loss;
      best.noise_variance = noise;
    }
    best.lower_bound = std::max(best.lower_bound, bound);
    if (best.loss <= best.lower_bound * (1 + options.tolerance)) {
      best.converged = true;
      return best;
    }
    if (bound >= accepted_bound) {
      accepted_bound = bound;
      step_from = dual;
      for (size_t j = 0; j < num_rows; ++j) accepted_ratio[j] = variance[j] / bound;
      exponent = std::min(kLargestExponent, exponent * kExponentGrowth);
    } else {
      exponent *= 0.5;
    }
    double total = 0;
    for (size_t j = 0; j < num_rows; ++j) {
      dual[j] = step_from[j] * std::pow(accepted_ratio[j], exponent);
      total += dual[j];
    }
    for (double& w : dual) w = std::max(w / total, kLeastDualWeight);
  }
  return best;
}

}  // namespace residua
