#include "residua/select/solvers/max_variance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/base/stop.h"
#include "residua/select/solvers/linear_noise.h"

namespace residua {
namespace {

// The exponent of the multiplicative step. Near 2 it converges fastest where it converges.
constexpr double kExponent = 1.8;
// Near the optimum the dual hardly changes, and rounding hides whether it rose or fell.
constexpr double kRounding = 1e-12;
// A dual weight below this fraction of the whole moves no bound that a double can show.
constexpr double kLeastDualWeight = 1e-18;
// How many times a step is lengthened at most, at first, and by how much that limit moves.
constexpr double kFirstReach = 4;
constexpr double kReachGrowth = 4;

// Dual: for weights w >= 0 on the rows with sum 1, T(w) = (sum_i sqrt(cost_i (M^T w)_i))^2 / budget
// bounds the optimum from below and is concave; its noise attains some maximum U >= T from above.
// Rows that exceed T gain weight, the others lose it.
class DualAscent {
 public:
  DualAscent(const VarianceMatrix& matrix, std::span<const double> cost,
             std::span<const double> weight, double budget, const SolverOptions& options,
             std::span<const double> prior)
      : matrix_(matrix),
        cost_(cost),
        weight_(weight),
        budget_(budget),
        options_(options),
        prior_(prior),
        row_demand_(weight.size()),
        demand_(cost.size()),
        noise_(cost.size()) {
    best_.loss = std::numeric_limits<double>::infinity();
  }

  // Logarithms of dual weights, and what they give.
  struct Point {
    std::vector<double> log_dual;
    std::vector<double> log_ratio;  // of each row's variance to the bound
    double bound = 0;
  };

  // `log_dual` need not be normalised. False if the solution is good enough, or time is up.
  bool Evaluate(Point* point) {
    CheckNotStopped(options_.stop);
    Normalise(&point->log_dual);
    const size_t num_rows = weight_.size();
    for (size_t j = 0; j < num_rows; ++j) {
      row_demand_[j] = PortableExp(point->log_dual[j]) * weight_[j];
    }
    MultiplyTransposed(matrix_, row_demand_, demand_);
    point->bound = SolveLinear(cost_, demand_, budget_, noise_, prior_);
    point->log_ratio.resize(num_rows);
    Multiply(matrix_, noise_, point->log_ratio);
    double loss = 0;
    for (size_t j = 0; j < num_rows; ++j) {
      const double variance = point->log_ratio[j] * weight_[j];
      loss = std::max(loss, variance);
      point->log_ratio[j] = PortableLog(variance / point->bound);
    }
    RESIDUA_CHECK(std::isfinite(loss));
    if (loss < best_.loss) {
      best_.loss = loss;
      best_.noise_variance = noise_;
    }
    best_.lower_bound = std::max(best_.lower_bound, point->bound);
    best_.converged = best_.loss <= best_.lower_bound * (1 + options_.tolerance);
    ++best_.iterations;
    return !best_.converged && best_.iterations < options_.max_iterations;
  }

  NoiseSolution TakeBest() { return std::move(best_); }

 private:
  // To weights of sum 1, none below the least.
  static void Normalise(std::vector<double>* log_dual) {
    const double largest = *std::max_element(log_dual->begin(), log_dual->end());
    double total = 0;
    for (const double value : *log_dual) total += PortableExp(value - largest);
    const double shift = largest + PortableLog(total);
    for (double& value : *log_dual) value = std::max(value - shift, PortableLog(kLeastDualWeight));
  }

  const VarianceMatrix& matrix_;
  std::span<const double> cost_;
  std::span<const double> weight_;
  double budget_;
  const SolverOptions& options_;
  std::span<const double> prior_;
  NoiseSolution best_;
  std::vector<double> row_demand_;
  std::vector<double> demand_;
  std::vector<double> noise_;
};

std::vector<double> Step(const DualAscent::Point& point) {
  std::vector<double> log_dual = point.log_dual;
  for (size_t j = 0; j < log_dual.size(); ++j) log_dual[j] += kExponent * point.log_ratio[j];
  return log_dual;
}

// Two steps r and r + v from the point, lengthened to 2 a r + a^2 v for the a of Varadhan and
// Roland (2008, SqS3), |r| / |v| with rows counted by their weight, but at most `reach`. 1 is two
// steps.
std::vector<double> DrawOut(const DualAscent::Point& from, const DualAscent::Point& next,
                            double reach, double* length) {
  const size_t num_rows = from.log_dual.size();
  const std::vector<double> last = Step(next);
  double r2 = 0;
  double v2 = 0;
  for (size_t j = 0; j < num_rows; ++j) {
    const double r = next.log_dual[j] - from.log_dual[j];
    const double v = last[j] - next.log_dual[j] - r;
    const double w = PortableExp(next.log_dual[j]);
    r2 += w * r * r;
    v2 += w * v * v;
  }
  const double a = v2 > 0 ? std::clamp(std::sqrt(r2 / v2), 1.0, reach) : 1;
  std::vector<double> log_dual(num_rows);
  for (size_t j = 0; j < num_rows; ++j) {
    const double r = next.log_dual[j] - from.log_dual[j];
    const double v = last[j] - next.log_dual[j] - r;
    log_dual[j] = from.log_dual[j] + 2 * a * r + a * a * v;
  }
  *length = a;
  return log_dual;
}

}  // namespace

NoiseSolution MinimizeMax(const VarianceMatrix& matrix, std::span<const double> cost,
                          std::span<const double> weight, double budget,
                          const SolverOptions& options, std::span<const double> prior) {
  const auto num_rows = static_cast<size_t>(matrix.num_rows());
  RESIDUA_CHECK(num_rows > 0);
  DualAscent ascent(matrix, cost, weight, budget, options, prior);
  DualAscent::Point from{std::vector<double>(num_rows, 0.0), {}, 0};
  DualAscent::Point next, drawn_out;
  double reach = kFirstReach;
  if (!ascent.Evaluate(&from)) return ascent.TakeBest();
  for (;;) {
    next.log_dual = Step(from);
    if (!ascent.Evaluate(&next)) break;
    double length = 1;
    drawn_out.log_dual = DrawOut(from, next, reach, &length);
    if (!ascent.Evaluate(&drawn_out)) break;
    if (drawn_out.bound >= next.bound * (1 - kRounding)) {
      if (length == reach) reach *= kReachGrowth;
      std::swap(from, drawn_out);
    } else {
      if (length == reach) reach = std::max(kFirstReach, reach / kReachGrowth);
      std::swap(from, next);
    }
  }
  return ascent.TakeBest();
}

}  // namespace residua
