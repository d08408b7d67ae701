#include "tests/audit/auditor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

namespace residua::audit {
namespace {

// The first line that only one of them has, or that they have in different places.
std::string FirstDifference(const std::string& one, const std::string& other) {
  std::istringstream one_lines(one), other_lines(other);
  std::string one_line, other_line;
  bool has_one = true, has_other = true;
  while (has_one && has_other && one_line == other_line) {
    has_one = static_cast<bool>(std::getline(one_lines, one_line));
    has_other = static_cast<bool>(std::getline(other_lines, other_line));
  }
  return (has_one ? one_line : "(nothing)") + " / " + (has_other ? other_line : "(nothing)");
}

// Makes releases as long as all their structures are the same.
class Observer {
 public:
  // False, and nothing in `numbers`, once a structure differs.
  bool Observe(const Release& release, Eigen::VectorXd* numbers) {
    Published published = release();
    if (!structure_) structure_ = published.structure;
    if (published.structure != *structure_) {
      difference_ = FirstDifference(published.structure, *structure_);
      return false;
    }
    *numbers = std::move(published.numbers);
    return true;
  }

  bool Collect(const Release& release, int count, Eigen::MatrixXd* all) {
    Eigen::VectorXd numbers;
    for (int k = 0; k < count; ++k) {
      if (!Observe(release, &numbers)) return false;
      if (k == 0) all->resize(numbers.size(), count);
      all->col(k) = numbers;
    }
    return true;
  }

  const std::optional<std::string>& difference() const { return difference_; }

 private:
  std::optional<std::string> structure_;
  std::optional<std::string> difference_;
};

// log(density with / density without), if both were normal with the same covariance.
struct Discriminant {
  Eigen::VectorXd direction;
  double offset = 0;

  double operator()(const Eigen::VectorXd& published) const {
    return direction.dot(published) - offset;
  }
};

Discriminant Train(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const Eigen::VectorXd mean_a = a.rowwise().mean();
  const Eigen::VectorXd mean_b = b.rowwise().mean();
  const Eigen::MatrixXd centred_a = a.colwise() - mean_a;
  const Eigen::MatrixXd centred_b = b.colwise() - mean_b;
  Eigen::MatrixXd covariance =
      (centred_a * centred_a.transpose() + centred_b * centred_b.transpose()) /
      static_cast<double>(a.cols() + b.cols());
  // Values that have no noise, or share it, must not lead to a division by zero.
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

// Bounds on the mean of independent values in a range of `width`; each fails with that probability.
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

// What the discriminant of a training set says of fresh releases; nothing if structures differ.
struct Discriminated {
  std::vector<double> with, without;
};
std::optional<Discriminated> Discriminate(const Release& with, const Release& without,
                                          const AuditOptions& options) {
  Observer observer;
  Eigen::MatrixXd training_with, training_without;
  if (!observer.Collect(with, options.num_training, &training_with) ||
      !observer.Collect(without, options.num_training, &training_without)) {
    return std::nullopt;
  }
  const Discriminant f = Train(training_with, training_without);
  Discriminated values;
  Eigen::VectorXd numbers;
  for (int k = 0; k < options.num_testing; ++k) {
    if (!observer.Observe(with, &numbers)) return std::nullopt;
    values.with.push_back(f(numbers));
    if (!observer.Observe(without, &numbers)) return std::nullopt;
    values.without.push_back(f(numbers));
  }
  return values;
}

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Phi^-1, by bisection; the ends are those of the probabilities that samples can show.
double NormalQuantile(double probability) {
  double low = -9;
  double high = 9;
  for (int k = 0; k < 100; ++k) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < probability ? low : high) = middle;
  }
  return low;
}

// Of the event that sign * value is above the threshold.
Bounds EventBounds(const std::vector<double>& values, double sign, double threshold,
                   double failure_probability) {
  std::vector<double> events;
  events.reserve(values.size());
  for (const double value : values) events.push_back(sign * value > threshold ? 1 : 0);
  return MeanBounds(events, 1, failure_probability);
}

}  // namespace

std::optional<std::string> StructuralDifference(const Release& with, const Release& without,
                                                int count) {
  Observer observer;
  Eigen::VectorXd ignored;
  for (int k = 0; k < count; ++k) {
    if (!observer.Observe(with, &ignored) || !observer.Observe(without, &ignored)) break;
  }
  return observer.difference();
}

double LowerBoundOnRho(const Release& with, const Release& without, const AuditOptions& options) {
  auto values = Discriminate(with, without, options);
  if (!values) return kInfinite;
  std::vector<double>& f_with = values->with;
  std::vector<double>& f_without = values->without;
  for (std::vector<double>* all : {&f_with, &f_without}) {
    for (double& value : *all) value = std::clamp(value, -options.cut_off, options.cut_off);
  }
  // In both directions: four bounds in total.
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

CurveBounds LowerBoundsOnCurve(const Release& with, const Release& without, double epsilon,
                               const AuditOptions& options) {
  const auto values = Discriminate(with, without, options);
  if (!values) return {kInfinite, kInfinite};
  // Both bounds either way round, each of two probabilities: eight in all.
  const double failure = options.failure_probability / 8;
  CurveBounds bounds;
  const auto look = [&](const std::vector<double>& p, const std::vector<double>& q, double sign) {
    const double likely = EventBounds(p, sign, 0, failure).lower;
    const double unlikely = EventBounds(q, sign, 0, failure).upper;
    bounds.mu = std::max(bounds.mu, NormalQuantile(likely) - NormalQuantile(unlikely));
    bounds.delta = std::max(bounds.delta,
                            EventBounds(p, sign, epsilon, failure).lower -
                                std::exp(epsilon) * EventBounds(q, sign, epsilon, failure).upper);
  };
  look(values->with, values->without, 1);
  look(values->without, values->with, -1);
  return bounds;
}

}  // namespace residua::audit
