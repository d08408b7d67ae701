#include "residua/select/bound/attribute_split.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/basis/bidiagonal_root.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/orthogonal_factors.h"
#include "residua/basis/symmetric_eigen.h"
#include "residua/select/bound/mirrored_ranges.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Of the error bounds below: products of n terms err by n epsilon, symmetric eigenvalues by a small
// multiple of it, relative to the largest.
constexpr double kErrorFactor = 16;
// A split with a larger margin gives up a direction instead.
constexpr double kMostMargin = 1e-7;
// The same where nothing is dense: margins grow with the cells. The third direction is worth some
// 1e-3 there, and without the second a third of the bound may be lost.
constexpr double kMostSparseMargin = 1e-3;
constexpr double kMostPairMargin = 5e-3;
// A direction that is this near to those before it is made of rounding errors.
constexpr double kLeastDirection = 1e-9;

// The columns made orthonormal, one after the other, up to one that those before it determine.
MatrixXd Orthonormal(MatrixXd directions) {
  for (Index k = 0; k < directions.cols(); ++k) {
    VectorXd next = directions.col(k);
    const double least = kLeastDirection * next.norm();
    for (int pass = 0; pass < 2; ++pass) {
      for (Index before = 0; before < k; ++before) {
        next -= directions.col(before).dot(next) * directions.col(before);
      }
      const double length = next.norm();
      if (pass == 0 && !(length > least)) return directions.leftCols(k);
      next /= length;
    }
    directions.col(k) = next;
  }
  return directions;
}

// Those after the first are orthogonal to e_1 exactly.
MatrixXd Directions(const FrameRoot& root, int num_active) {
  MatrixXd directions(root.root.rows(), num_active);
  directions.col(0) = VectorXd::Unit(root.root.rows(), 0);
  if (num_active > 1) directions.col(1) = root.root.col(0);
  if (num_active > 2) directions.col(2) = root.bent;
  directions.row(0).tail(num_active - 1).setZero();
  return Orthonormal(std::move(directions));
}

// The factors of an active block of two or three rows; see AttributeSplit.
void FactorBlock(const MatrixXd& block, AttributeSplit* split) {
  const auto m = static_cast<int>(block.rows());
  const MatrixXd lower = LowerFactorOf(block);
  const double corner = std::fabs(lower(0, 0));
  split->num_active = m;
  split->corner = corner;
  const MatrixXd inner = lower.bottomRightCorner(m - 1, m - 1);
  VectorXd y = lower.col(0).tail(m - 1);  // then solved by the triangle of `inner`
  y(0) /= inner(0, 0);
  if (m == 3) y(1) = (y(1) - inner(1, 0) * y(0)) / inner(1, 1);
  split->link = y.norm();
  if (m == 2) {
    split->second = std::fabs(inner(0, 0)) / corner;
    return;
  }
  // Rotated so that y lies along the second direction, then made triangular from the left.
  const double length = y.norm();
  Eigen::Matrix2d turn = Eigen::Matrix2d::Identity();
  if (length > 0) turn << y(0) / length, -y(1) / length, y(1) / length, y(0) / length;
  const Eigen::Matrix2d turned = Eigen::Matrix2d(inner) * turn;
  const double third = turned.col(1).norm();
  const double up = turned(0, 1) / third;
  const double down = turned(1, 1) / third;
  split->second = std::fabs(down * turned(0, 0) - up * turned(1, 0)) / corner;
  split->twist = std::fabs(up * turned(0, 0) + down * turned(1, 0)) / third;
  split->third = third / corner;
}

// The split of sqrt(height) times the root of `num_cells` cells, with up to `num_active` of the
// directions, of which the first is at most `first_error` from where it should be. `beside` is the
// trace of what no direction touches.
AttributeSplit SplitAlong(const MatrixRoot& root, const MatrixXd& all, double first_error,
                          Index num_cells, double height, double beside, int num_active) {
  const Index n = all.rows();
  const double error =
      kErrorFactor * static_cast<double>(num_cells) * kEpsilon + root.relative_error();
  const double off = first_error + error;
  const double scale = std::sqrt(height);
  const double norm = scale * std::sqrt(root.most());
  const double trace = scale * (root.Diagonal().sum() + beside);
  for (int most = num_active; most >= 1; --most) {
    const MatrixXd directions = Orthonormal(all.leftCols(most));
    MatrixXd images(n, directions.cols());
    for (Index k = 0; k < directions.cols(); ++k) {
      images.col(k) = scale * root.Apply(directions.col(k));
    }
    const MatrixXd block = TransposedProduct(directions, images);
    AttributeSplit split;
    split.height = height;
    split.query_margin = error;
    const double least = EigenvaluesOf((block + block.transpose()) / 2).minCoeff();
    split.margin = 8 * off * norm / least;
    if (!(split.margin <= (most == 2 ? kMostPairMargin : kMostSparseMargin)) && most > 1) continue;
    split.rest = std::max(
        0.0, trace * (1 - error) - block.trace() - 4 * static_cast<double>(most) * off * norm);
    if (block.rows() == 1) {
      split.corner = block(0, 0);
      return split;
    }
    FactorBlock(block, &split);
    return split;
  }
  return {};
}

// The split by P = sqrt(height) times the root, whose first coordinate is that of the total times
// sqrt(`total_factor`).
AttributeSplit SplitOfSums(const BidiagonalRoot& root, Index num_cells, double height,
                           double total_factor, double beside, int num_active) {
  const VectorXd first = VectorXd::Unit(root.size(), 0);
  MatrixXd directions(root.size(), kMaxActive);
  directions << first, root.Apply(first), root.Bent(first, kBend);
  AttributeSplit split = SplitAlong(root, directions, 0, num_cells, height, beside, num_active);
  // K^-1 takes its part off the first row.
  const double part = 1 / std::sqrt(total_factor);
  split.corner *= part;
  split.second /= part;
  split.third /= part;
  return split;
}

}  // namespace

AttributeFrame FrameOf(const QuerySpace& space, const VectorXd& query_weight) {
  const MatrixXd gram = space.queries.Gram(query_weight);
  const auto [values, vectors] = EigenOf(gram);
  const Index rank = values.size();
  AttributeFrame frame;
  double condition = values.maxCoeff() / values.minCoeff();
  if (!(values.minCoeff() > 0)) condition = std::numeric_limits<double>::infinity();
  if (!space.is_full()) {
    const VectorXd columns =
        EigenvaluesOf(ProductTransposed(space.dense_columns, space.dense_columns));
    condition *= std::max(columns.maxCoeff() / columns.minCoeff(), 1.0);
  }
  frame.query_margin = kErrorFactor * static_cast<double>(rank) * kEpsilon * condition;
  if (!(frame.query_margin < 1)) {
    frame.query_margin = 1;
    return frame;
  }
  const VectorXd roots = values.cwiseSqrt();
  const VectorXd direction =
      Product(vectors, VectorXd(TransposedProduct(vectors, space.ones).cwiseQuotient(roots)));
  frame.height = direction.squaredNorm();
  // A reflection takes the direction to e_1, up to sign.
  VectorXd mirror = direction / std::sqrt(frame.height);
  mirror(0) += mirror(0) < 0 ? -1 : 1;
  mirror.normalize();
  MatrixXd rows = ProductTransposed(vectors * roots.asDiagonal(), vectors);
  const VectorXd along = TransposedProduct(rows, mirror);
  for (Index k = 0; k < rows.cols(); ++k) rows.col(k) -= 2 * along(k) * mirror;
  frame.rows = space.is_full() ? rows : Product(rows, space.dense_columns);
  frame.rows.row(0).setConstant(1 / std::sqrt(frame.height));
  frame.inverse_rows = ProductTransposed(vectors * roots.cwiseInverse().asDiagonal(), vectors);
  const VectorXd across = TransposedProduct(frame.inverse_rows, mirror);
  for (Index k = 0; k < rows.cols(); ++k) frame.inverse_rows.col(k) -= 2 * across(k) * mirror;
  if (Product(frame.inverse_rows, space.ones)(0) < 0) frame.inverse_rows.row(0) *= -1;
  if (space.is_quotient()) {
    frame.rows.row(0) = space.ones.transpose() / std::sqrt(frame.height);
    frame.cells_of_block = space.cells_of_block;
    frame.left_over = query_weight.head(space.rank()).cwiseQuotient(space.cells_of_block);
  }
  return frame;
}

AttributeSplit SplitIdentity(int64_t size) {
  const auto n = static_cast<double>(size);
  AttributeSplit split;
  split.height = n * n;
  split.rest = n - 1;
  split.margin = kErrorFactor * kEpsilon;
  split.query_margin = kErrorFactor * kEpsilon;
  return split;
}

VectorXd ScaledToOne(const VectorXd& lambda) {
  return lambda / (lambda.sum() * (1 + static_cast<double>(lambda.size()) * kEpsilon));
}

FrameRoot RootOf(const AttributeFrame& frame, const VectorXd& lambda) {
  FrameRoot of;
  of.frame = &frame;
  const auto num_cells = static_cast<double>(lambda.size());
  of.lambda = ScaledToOne(lambda);
  const VectorXd& sizes = frame.cells_of_block;
  if (sizes.size() > 0) {
    const double sum = lambda.dot(sizes);
    of.lambda = lambda / (sum * (1 + 4 * num_cells * kEpsilon));
    of.left_over = ((sizes.array() - 1) *
                    (frame.height * of.lambda.cwiseProduct(frame.left_over)).cwiseSqrt().array())
                       .sum() *
                   (1 - kErrorFactor * num_cells * kEpsilon);
  }
  const MatrixXd scaled = frame.rows * (frame.height * of.lambda).cwiseSqrt().asDiagonal();
  of.gram = ProductTransposed(scaled, scaled);
  const auto [values, vectors] = EigenOf(of.gram);
  const double error = kErrorFactor * (num_cells + static_cast<double>(values.size())) * kEpsilon *
                       values.maxCoeff();
  const VectorXd roots = (values.array() - error).max(0).sqrt();
  of.root = ProductTransposed(vectors * roots.asDiagonal(), vectors);
  of.bent =
      Product(vectors, VectorXd(roots.array().pow(kBend) * vectors.row(0).transpose().array()));
  of.trace = roots.sum() + of.left_over;
  of.norm = roots.maxCoeff();
  return of;
}

ActiveBlock ActiveBlockOf(const FrameRoot& root, int num_active) {
  ActiveBlock active;
  active.directions =
      Directions(root, static_cast<int>(std::min<Index>(num_active, root.root.rows())));
  active.block = TransposedProduct(active.directions, Product(root.root, active.directions));
  return active;
}

AttributeSplit SplitWith(const FrameRoot& root, const ActiveBlock& active) {
  const double error = kErrorFactor * static_cast<double>(root.root.rows()) * kEpsilon;
  const double least = EigenvaluesOf(active.block).cwiseAbs().minCoeff();
  AttributeSplit split;
  split.margin = 4 * error * root.norm / least;
  split.height = root.frame->height;
  split.query_margin = root.frame->query_margin;
  split.rest = std::max(0.0, root.trace * (1 - error) - active.block.trace() * (1 + error));
  FactorBlock(active.block, &split);
  return split;
}

AttributeSplit SplitWithActive(const FrameRoot& root, int num_active) {
  for (int most = num_active; most > 1; --most) {
    const ActiveBlock active = ActiveBlockOf(root, most);
    if (active.block.rows() == 1) break;
    const AttributeSplit split = SplitWith(root, active);
    if (split.margin <= kMostMargin) return split;
  }
  return SplitWithoutActive(root, 0);
}

AttributeSplit SplitOfPrefixes(const VectorXd& weight, const VectorXd& lambda, double total_factor,
                               int num_active) {
  const double height = 1 / weight(weight.size() - 1);
  VectorXd weight_from_last = weight.reverse();
  weight_from_last(0) *= total_factor;
  return SplitOfSums(RootOfSums(weight_from_last, lambda.reverse()), lambda.size(), height,
                     total_factor, 0, num_active);
}

AttributeSplit SplitOfRanges(const VectorXd& lambda, double total_factor, int num_active) {
  const MirroredRanges mirrored = MirrorRanges(lambda, total_factor);
  const BidiagonalRoot& opposite = mirrored.opposite;
  const double beside = opposite.Diagonal().sum() * (1 - opposite.relative_error());
  return SplitOfSums(RootOfSums(mirrored.weight.reverse(), mirrored.cells.reverse()), lambda.size(),
                     static_cast<double>(lambda.size()), total_factor, beside, num_active);
}

AttributeSplit SplitOfTree(const TreeRoot& root, const VectorXd& lambda, int num_active) {
  const double height = root.height();
  const VectorXd first = root.InverseRootOfLambda() / std::sqrt(height);
  MatrixXd directions(lambda.size(), kMaxActive);
  directions << first, lambda.cwiseSqrt(), root.Bent(first, kBend);
  return SplitAlong(root, directions, 2 * root.path_error(), lambda.size(), height, 0, num_active);
}

AttributeSplit SplitWithoutActive(const FrameRoot& root, double place) {
  const Index rank = root.root.rows();
  // sqrt(h) T diag(lambda)^1/2 times each end: lambda^1/2 and the polar factor's first row.
  const VectorXd& sizes = root.frame->cells_of_block;
  const VectorXd cells =
      sizes.size() > 0 ? VectorXd(root.lambda.cwiseProduct(sizes.cwiseSqrt())) : root.lambda;
  const VectorXd near = std::sqrt(root.frame->height) * Product(root.frame->rows, cells);
  const VectorXd far = root.root.col(0);
  const double cosine = std::min(far(0), 1.0);
  const double norm =
      std::sqrt((1 - place) * (1 - place) + place * place + 2 * place * (1 - place) * cosine);
  const double error = kErrorFactor * static_cast<double>(rank + root.lambda.size()) * kEpsilon;
  AttributeSplit split;
  split.height = root.frame->height;
  split.query_margin = root.frame->query_margin;
  split.corner = (1 - place + place * cosine) / norm;
  split.margin = kErrorFactor * error;
  if (rank == 1) return split;
  const VectorXd below = ((1 - place) * near + place * far).tail(rank - 1) / norm;
  MatrixXd beside = root.gram.bottomRightCorner(rank - 1, rank - 1);
  for (Index k = 0; k < rank - 1; ++k) beside.col(k) -= below(k) * below;
  const VectorXd values = EigenvaluesOf(beside);
  split.rest = (values.array() - error * root.gram.trace()).max(0).sqrt().sum() + root.left_over;
  return split;
}

}  // namespace residua
