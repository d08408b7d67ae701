#include "tests/audit/auditor.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace residua::audit {
namespace {

Eigen::MatrixXd Collect(const Release& release, int count) {
  const Eigen::VectorXd first = release();
  Eigen::MatrixXd all(first.size(), count);
  all.col(0) = first;
  for (int k = 1; k < count; ++k) all.col(k) = release();
  return all;
}

// log(density with / density without), were both normal of the same covariance.
struct Discriminant {
  Eigen::VectorXd direction;
  double offset = 0;

  double operator()(const Eigen::VectorXd& published) const {
    return direction.dot(published) - offset;
  }
};

Discriminant Train(const Release& with, const Release& without, int count) {
  const Eigen::MatrixXd a = Collect(with, count);
  const Eigen::MatrixXd b = Collect(without, count);
  const Eigen::VectorXd mean_a = a.rowwise().mean();
  const Eigen::VectorXd mean_b = b.rowwise().mean();
  const Eigen::MatrixXd centred_a = a.colwise() - mean_a;
  const Eigen::MatrixXd centred_b = b.colwise() - mean_b;
  Eigen::MatrixXd covariance =
      (centred_a * centred_a.transpose() + centred_b * centred_b.transpose()) / (2.0 * count);
  // Values that have no noise, or share it, are not to divide by zero.
  covariance.diagonal() = covariance.diagonal() * (1 + 1e-6);
  covariance.diagonal().array() += 1e-6;
  Discriminant f;
  f.direction = covariance.ldlt().solve(mean_a - mean_b);
  f.offset = f.direction.dot(mean_a + mean_b) / 2;
  return f;
}

struct Bounds {
  double lower = 0;
  double upper = 0;
};

// Of the mean of independent values in a range of `width`, each bound with that probability of
// failing.
Bounds MeanBounds(const std::vector<double>& values, double width, double failure_probability) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double log_term = std::log(2 / failure_probability);
  const double margin =
      std::sqrt(2 * squares / (n - 1) * log_term / n) + 7 * width * log_term / (3 * (n - 1));
  return {mean - margin, mean + margin};
}

}  // namespace

double LowerBoundOnRho(const Release& with, const Release& without, const AuditOptions& options) {
  const Discriminant f = Train(with, without, options.num_training);
  std::vector<double> f_with, f_without;
  for (int k = 0; k < options.num_testing; ++k) {
    f_with.push_back(std::clamp(f(with()), -options.cut_off, options.cut_off));
    f_without.push_back(std::clamp(f(without()), -options.cut_off, options.cut_off));
  }
  // Either way round: four bounds in all.
  const double failure = options.failure_probability / 4;
  const auto divergence = [&](const std::vector<double>& p, const std::vector<double>& q,
                              double sign) {
    std::vector<double> f_p, exp_q;
    for (const double value : p) f_p.push_back(sign * value);
    for (const double value : q) exp_q.push_back(std::exp(sign * value));
    const double range = std::exp(options.cut_off) - std::exp(-options.cut_off);
    return MeanBounds(f_p, 2 * options.cut_off, failure).lower -
           std::log(MeanBounds(exp_q, range, failure).upper);
  };
  return std::max(divergence(f_with, f_without, 1), divergence(f_without, f_with, -1));
}

}  // namespace residua::audit
