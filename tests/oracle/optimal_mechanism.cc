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

// With V the eigenvectors of diag(lambda)^1/2 Q^T diag(weight) Q diag(lambda)^1/2 and S the roots of
// its eigenvalues, X = diag(lambda)^-1/2 V S V^T diag(lambda)^-1/2. Nothing is inverted but S, which
// is kept positive, and any such X bounds the optimum from above; the sum of S, squared, from below,
// less what rounding may have added.
OptimumBounds LeastMaxVariance(const MatrixXd& queries, int steps) {
  const auto n = queries.cols();
  const auto m = queries.rows();
  VectorXd lambda = VectorXd::Constant(n, 1.0 / static_cast<double>(n));
  VectorXd weight = VectorXd::Constant(m, 1.0 / static_cast<double>(m));
  OptimumBounds bounds{0, std::numeric_limits<double>::infinity()};
  // `from` times powers of `ratio`, of sum 1; every entry keeps a share.
  const auto raised = [](const VectorXd& from, const VectorXd& ratio, double exponent,
                         double share) {
    const VectorXd next = from.array() * ratio.array().max(1e-9).pow(exponent);
    return VectorXd((1 - share) / next.sum() * next +
                    VectorXd::Constant(from.size(), share / static_cast<double>(from.size())));
  };
  for (int step = 0; step < steps; ++step) {
    const MatrixXd of_cells = queries * lambda.cwiseSqrt().asDiagonal();
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(of_cells.transpose() * weight.asDiagonal() *
                                                        of_cells);
    const VectorXd& values = eigen.eigenvalues();
    const double error = 4e-15 * static_cast<double>(n) * values.maxCoeff();
    const VectorXd root = values.cwiseMax(error).cwiseSqrt();
    const VectorXd diagonal = (eigen.eigenvectors().cwiseAbs2() * root).cwiseQuotient(lambda);
    const VectorXd variance = (of_cells * eigen.eigenvectors()).cwiseAbs2() * root.cwiseInverse();
    const double safe = (values.array() - error).max(0).sqrt().sum();
    const double trace = root.sum();
    bounds.lower = std::max(bounds.lower, safe * safe);
    bounds.upper = std::min(bounds.upper, variance.maxCoeff() * diagonal.maxCoeff());
    lambda = raised(lambda, diagonal / trace, 1, 1e-9);
    weight = raised(weight, variance / trace, 1.8, 1e-7);
  }
  return bounds;
}

}  // namespace residua::oracle
