#include "tests/oracle/optimal_mechanism.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace residua::oracle {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The null space stays null, so that the bounds hold for singular matrices too.
MatrixXd Power(const MatrixXd& symmetric, double exponent) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(symmetric);
  VectorXd powers = eigen.eigenvalues();
  const double floor = 1e-13 * powers.maxCoeff();
  for (double& value : powers) value = value > floor ? std::pow(value, exponent) : 0;
  return eigen.eigenvectors() * powers.asDiagonal() * eigen.eigenvectors().transpose();
}

// X with X diag(lambda) X = gram, and the trace of (gram^1/2 diag(lambda) gram^1/2)^1/2.
std::pair<MatrixXd, double> Step(const MatrixXd& gram, const VectorXd& lambda) {
  const MatrixXd root = Power(gram, 0.5);
  const MatrixXd middle = root * lambda.asDiagonal() * root;
  return {root * Power(middle, -0.5) * root, Power(middle, 0.5).trace()};
}

}  // namespace

OptimumBounds LeastTotalVariance(const MatrixXd& gram, int steps) {
  VectorXd lambda = VectorXd::Constant(gram.rows(), 1.0 / static_cast<double>(gram.rows()));
  OptimumBounds bounds{0, std::numeric_limits<double>::infinity()};
  for (int step = 0; step < steps; ++step) {
    const auto [x, trace] = Step(gram, lambda);
    bounds.lower = std::max(bounds.lower, trace * trace);
    bounds.upper = std::min(bounds.upper, trace * x.diagonal().maxCoeff());
    lambda = lambda.cwiseProduct(x.diagonal());
    lambda /= lambda.sum();
  }
  return bounds;
}

OptimumBounds LeastMaxVariance(const MatrixXd& queries, int steps) {
  const auto n = queries.cols();
  const auto m = queries.rows();
  VectorXd lambda = VectorXd::Constant(n, 1.0 / static_cast<double>(n));
  VectorXd weight = VectorXd::Constant(m, 1.0 / static_cast<double>(m));
  OptimumBounds bounds{0, std::numeric_limits<double>::infinity()};
  for (int step = 0; step < steps; ++step) {
    const MatrixXd gram = queries.transpose() * weight.asDiagonal() * queries;
    const auto [x, trace] = Step(gram, lambda);
    const VectorXd variance = (queries * x.inverse()).cwiseProduct(queries).rowwise().sum();
    bounds.lower = std::max(bounds.lower, trace * trace);
    bounds.upper = std::min(bounds.upper, variance.maxCoeff() * x.diagonal().maxCoeff());
    lambda = lambda.cwiseProduct(x.diagonal());
    lambda /= lambda.sum();
    weight = weight.cwiseProduct(variance);
    weight =
        weight / weight.sum() * (1 - 1e-7) + VectorXd::Constant(m, 1e-7 / static_cast<double>(m));
  }
  return bounds;
}

}  // namespace residua::oracle
