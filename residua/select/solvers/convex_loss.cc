#include "residua/select/solvers/convex_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/base/stop.h"
#include "residua/select/solvers/linear_noise.h"

namespace residua {
namespace {

double Evaluate(const RowLoss& loss, std::span<const double> variance, std::span<double> gradient) {
  const double value = loss(variance, gradient);
  if (!std::isfinite(value)) {
    Fail(ErrorKind::kBadInput, "the loss function returned {}; it must be finite", value);
  }
  bool any_positive = false;
  for (const double g : gradient) {
    if (!(g >= 0) || !std::isfinite(g)) {
      Fail(ErrorKind::kBadInput,
           "the loss function's gradient has the entry {}; it must be finite and not negative", g);
    }
    any_positive = any_positive || g > 0;
  }
  if (!any_positive) {
    Fail(ErrorKind::kBadInput, "the loss function's gradient is zero; no table matters to it");
  }
  return value;
}

}  // namespace

// In y = log(noise variance) the problem is convex, and moving towards the noise that is optimal
// for the linearised loss is a direction of descent: its i-th entry has the sign opposite to the
// i-th derivative of the Lagrangian. Lower bound, loss being convex in the variances v:
//   loss(v*) >= loss(v) - gradient . v + min over feasible noise of gradient . M noise.
NoiseSolution MinimizeConvex(const VarianceMatrix& matrix, std::span<const double> cost,
                             const RowLoss& loss, double budget, const SolverOptions& options,
                             std::span<const double> prior) {
  const auto num_rows = static_cast<size_t>(matrix.num_rows());
  const size_t num_columns = cost.size();
  std::vector<double> variance(num_rows);
  std::vector<double> gradient(num_rows);
  std::vector<double> demand(num_columns);
  std::vector<double> target(num_columns);
  std::vector<double> trial(num_columns);

  NoiseSolution solution;
  solution.noise_variance.resize(num_columns);
  std::vector<double>& noise = solution.noise_variance;
  const std::vector<double> ones(num_rows, 1.0);
  MultiplyTransposed(matrix, ones, demand);
  SolveLinear(cost, demand, budget, noise, prior);
  // What all precisions together may cost.
  const double total = std::inner_product(prior.begin(), prior.end(), cost.begin(), budget);
  Multiply(matrix, noise, variance);
  solution.loss = Evaluate(loss, variance, gradient);
  solution.lower_bound = -std::numeric_limits<double>::infinity();

  double step = 1.0;
  for (solution.iterations = 1; solution.iterations <= options.max_iterations;
       ++solution.iterations) {
    CheckNotStopped(options.stop);
    MultiplyTransposed(matrix, gradient, demand);
    const double linear_minimum = SolveLinear(cost, demand, budget, target, prior);
    const double linear_now =
        std::inner_product(gradient.begin(), gradient.end(), variance.begin(), 0.0);
    solution.lower_bound =
        std::max(solution.lower_bound, solution.loss - linear_now + linear_minimum);
    if (solution.loss - solution.lower_bound <= options.tolerance * std::fabs(solution.loss)) {
      solution.converged = true;
      return solution;
    }
    step = std::min(1.0, 2 * step);
    for (;; step *= 0.5) {
      if (step < 1e-12) return solution;
      double spent = 0;
      for (size_t i = 0; i < num_columns; ++i) {
        trial[i] = noise[i] * PortablePow(target[i] / noise[i], step);
        spent += cost[i] / trial[i];
      }
      // The cost is convex in y, so that this never raises the noise above what is known already.
      for (double& t : trial) t *= spent / total;
      Multiply(matrix, trial, variance);
      const double value = Evaluate(loss, variance, gradient);
      if (value < solution.loss) {
        solution.loss = value;
        noise.swap(trial);
        break;
      }
    }
  }
  return solution;
}

RowLoss PNormLoss(std::vector<double> weight, double p) {
  if (!(p >= 1) || !std::isfinite(p)) {
    Fail(ErrorKind::kBadInput, "p-norm: p is {}; it must be at least 1 and finite", p);
  }
  return [weight = std::move(weight), p](std::span<const double> variance,
                                         std::span<double> gradient) {
    // Scaled by the largest variance, so that no power overflows.
    const double scale = *std::max_element(variance.begin(), variance.end());
    double sum = 0;
    for (size_t j = 0; j < variance.size(); ++j) {
      const double power = weight[j] * PortablePow(variance[j] / scale, p - 1);
      gradient[j] = power;
      sum += power * variance[j] / scale;
    }
    // d/dv_j (sum)^(1/p) = (sum)^(1/p - 1) weight_j v_j^(p-1)
    const double factor = PortablePow(sum, 1 / p - 1);
    for (double& g : gradient) g *= factor;
    return scale * PortablePow(sum, 1 / p);
  };
}

}  // namespace residua
