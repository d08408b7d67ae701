#include "residua/select/bound/weight_ascent.h"

#include <algorithm>
#include <cmath>

#include "residua/basis/dense_products.h"
#include "residua/basis/symmetric_eigen.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Of the differences, relative to what they are taken of.
constexpr double kDifference = 1e-5;
// Every answer keeps this share of equal weights, so that V stays well conditioned, every cell that.
constexpr double kAnswerShare = 1e-3;
constexpr double kCellShare = 1e-9;
// No weight falls by more than this in a step.
constexpr double kLeastFactor = 1e-2;

// `weight` times powers of `factor` over its mean, of sum 1, a `share` of them equal.
VectorXd Raised(const VectorXd& weight, const VectorXd& factor, double exponent, double share) {
  const double mean = weight.dot(factor) / weight.sum();
  const VectorXd raised = weight.array() * (factor / mean).array().max(kLeastFactor).pow(exponent);
  return (1 - share) / raised.sum() * raised +
         VectorXd::Constant(weight.size(), share / static_cast<double>(weight.size()));
}

}  // namespace

AttributeWeights AscendedWeights(const QuerySpace& space, const FrameRoot& root,
                                 const VectorXd& answer_weight, int num_active, double exponent,
                                 const std::function<double(const AttributeSplit&)>& bound) {
  const ActiveBlock active = ActiveBlockOf(root, num_active);
  const AttributeSplit split = SplitWith(root, active);
  const double here = bound(split);
  AttributeSplit moved = split;
  moved.height *= 1 + kDifference;
  const double by_log_height = (bound(moved) - here) / kDifference;
  moved = split;
  const double rest_step = kDifference * std::max(split.rest, kDifference * root.trace);
  moved.rest += rest_step;
  const double by_rest = (bound(moved) - here) / rest_step;
  // Symmetric, so that entries beside the diagonal move in pairs. The block alone moves: the trace
  // of the rest is held.
  const Index m = active.block.rows();
  MatrixXd by_block(m, m);
  const double step = kDifference * active.block.trace() / static_cast<double>(m);
  for (Index a = 0; a < m; ++a) {
    for (Index b = 0; b <= a; ++b) {
      ActiveBlock other = active;
      other.block(a, b) += step;
      if (a != b) other.block(b, a) += step;
      moved = SplitWith(root, other);
      moved.rest = split.rest;
      by_block(a, b) = (bound(moved) - here) / (a == b ? step : 2 * step);
      by_block(b, a) = by_block(a, b);
    }
  }
  // G = by_rest (I - L L^T) + L by_block L^T.
  const MatrixXd& l = active.directions;
  const Index rank = root.root.rows();
  MatrixXd gradient = by_rest * MatrixXd::Identity(rank, rank);
  const MatrixXd inner = by_block - by_rest * MatrixXd::Identity(m, m);
  gradient += ProductTransposed(Product(l, inner), l);
  const SymmetricEigen eigen = EigenOf(root.root);
  const double least = 1e-9 * eigen.values.maxCoeff();
  MatrixXd solved = TransposedProduct(eigen.vectors, Product(gradient, eigen.vectors));
  for (Index a = 0; a < rank; ++a) {
    for (Index b = 0; b < rank; ++b) {
      solved(a, b) /= std::max(eigen.values(a), least) + std::max(eigen.values(b), least);
    }
  }
  solved = ProductTransposed(Product(eigen.vectors, solved), eigen.vectors);
  const AttributeFrame& frame = *root.frame;
  const VectorXd by_cell =
      frame.rows.cwiseProduct(Product(solved, frame.rows)).colwise().sum().transpose();
  // dV = T^T E T moves T by Z T with Z + Z^T = E, the first row of Z zero beside its first entry,
  // for the first row of T stays constant; and log h by -E_11.
  const MatrixXd moving = Product(solved, root.gram);
  MatrixXd by_e = (moving + moving.transpose()) / 2;
  by_e.row(0) = moving.col(0).transpose();
  by_e.col(0) = moving.col(0);
  by_e(0, 0) -= solved.cwiseProduct(root.gram).sum() + by_log_height;
  const VectorXd by_answer = space.queries.QuadraticForms(
      TransposedProduct(frame.inverse_rows, Product(by_e, frame.inverse_rows)));
  // Of sum 1 are the weights over the answers' importance; see StrategySolver.
  const VectorXd answers = Raised(answer_weight.cwiseQuotient(space.importance),
                                  by_answer.cwiseProduct(space.importance), exponent, kAnswerShare);
  return {answers.cwiseProduct(space.importance), Raised(root.lambda, by_cell, 1, kCellShare)};
}

}  // namespace residua
