#include "residua/basis/bidiagonal_root.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/base/portable_math.h"
#include "residua/basis/dense_products.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// For each cell, in units of a double's epsilon: docs/lower_bound.md counts 15.
constexpr double kRoundingsPerCell = 16;

}  // namespace

BidiagonalRoot::BidiagonalRoot(VectorXd pivots, VectorXd below, VectorXd update, double factor,
                               double trace)
    : pivots_(std::move(pivots)),
      below_(std::move(below)),
      update_(std::move(update)),
      factor_(factor),
      least_inverse_(1 / trace) {
  const Index n = pivots_.size();
  // The spectrum of the inverse: Gershgorin's circles above, and the largest eigenvalue of A, at
  // most its trace, below.
  const double least = least_inverse_;
  double& most = most_inverse_;
  for (Index k = 0; k < n; ++k) {
    double row = pivots_(k);
    if (k > 0) row += pivots_(k - 1) * std::fabs(below_(k - 1)) * (1 + std::fabs(below_(k - 1)));
    if (k + 1 < n) row += pivots_(k) * std::fabs(below_(k));
    most = std::max(most, row);
  }
  if (update_.size() > 0 && factor_ < 0) most -= factor_ * update_.squaredNorm();
  terms_ = RootTerms(least, most);
  relative_error_ = kRootTolerance + (kRoundingsPerCell * static_cast<double>(n) +
                                      static_cast<double>(terms_.size())) *
                                         std::numeric_limits<double>::epsilon();
}

void BidiagonalRoot::Factor(double shift, Factors* factors) const {
  const Index n = pivots_.size();
  factors->pivots.resize(n);
  factors->below.resize(n - 1);
  factors->above.resize(n - 1);
  factors->diagonal.resize(n);
  double rest = shift;
  for (Index k = 0; k < n; ++k) {
    factors->diagonal(k) = rest;
    factors->pivots(k) = rest + pivots_(k);
    if (k + 1 == n) break;
    factors->below(k) = pivots_(k) * below_(k) / factors->pivots(k);
    rest = factors->below(k) * below_(k) * rest + shift;
  }
  double from_below = pivots_(n - 1);
  for (Index k = n - 1;; --k) {
    factors->diagonal(k) = 1 / (factors->diagonal(k) + from_below);
    if (k == 0) break;
    const double pivot = pivots_(k - 1) * below_(k - 1) * below_(k - 1) + from_below + shift;
    const double ratio = pivots_(k - 1) / pivot;
    factors->above(k - 1) = below_(k - 1) * ratio;
    from_below = (from_below + shift) * ratio;
  }
}

VectorXd BidiagonalRoot::Solve(const Factors& factors, const VectorXd& x) const {
  VectorXd solved = x;
  const Index n = x.size();
  for (Index k = 1; k < n; ++k) solved(k) -= factors.below(k - 1) * solved(k - 1);
  solved.array() /= factors.pivots.array();
  for (Index k = n - 1; k > 0; --k) solved(k - 1) -= factors.below(k - 1) * solved(k);
  return solved;
}

VectorXd BidiagonalRoot::Diagonal() const {
  VectorXd diagonal = VectorXd::Zero(pivots_.size());
  Factors factors;
  for (const RootTerm& term : terms_) {
    Factor(term.shift, &factors);
    diagonal += term.weight * factors.diagonal;
    if (update_.size() == 0) continue;
    const VectorXd solved = Solve(factors, update_);
    diagonal += term.weight * factor_ / (1 - factor_ * update_.dot(solved)) * solved.cwiseAbs2();
  }
  return diagonal;
}

VectorXd BidiagonalRoot::ApplyTerms(const std::vector<RootTerm>& terms, const VectorXd& x) const {
  VectorXd product = VectorXd::Zero(pivots_.size());
  Factors factors;
  for (const RootTerm& term : terms) {
    Factor(term.shift, &factors);
    product += term.weight * Solve(factors, x);
    if (update_.size() == 0) continue;
    const VectorXd solved = Solve(factors, update_);
    product += term.weight * factor_ * solved.dot(x) / (1 - factor_ * update_.dot(solved)) * solved;
  }
  return product;
}

VectorXd BidiagonalRoot::Apply(const VectorXd& x) const { return ApplyTerms(terms_, x); }

VectorXd BidiagonalRoot::Bent(const VectorXd& x, double power) const {
  std::vector<RootTerm> terms = terms_;
  for (RootTerm& term : terms) term.weight *= PortablePow(term.shift, (1 - power) / 2);
  return ApplyTerms(terms, x);
}

VectorXd BidiagonalRoot::Inverse(const VectorXd& x) const {
  const Index n = x.size();
  VectorXd product = x;
  for (Index k = 0; k + 1 < n; ++k) product(k) += below_(k) * x(k + 1);
  product.array() *= pivots_.array();
  for (Index k = n - 1; k > 0; --k) product(k) += below_(k - 1) * product(k - 1);
  if (update_.size() > 0) product -= factor_ * update_.dot(x) * update_;
  return product;
}

MatrixXd BidiagonalRoot::Dense() const {
  const Index n = pivots_.size();
  RowMajorMatrix root = RowMajorMatrix::Zero(n, n);
  MatrixXd updates(update_.size(), update_.size() > 0 ? static_cast<Index>(terms_.size()) : 0);
  Factors factors;
  VectorXd row(n);
  Index num_updates = 0;
  for (const RootTerm& term : terms_) {
    Factor(term.shift, &factors);
    // Below the diagonal each row of the inverse is a multiple of the one above it.
    for (Index k = 0; k < n; ++k) {
      if (k > 0) row.head(k) *= -factors.above(k - 1);
      row(k) = term.weight * factors.diagonal(k);
      root.row(k).head(k + 1) += row.head(k + 1);
    }
    if (update_.size() == 0) continue;
    const VectorXd solved = Solve(factors, update_);
    const double weight = term.weight / (1 - factor_ * update_.dot(solved));
    updates.col(num_updates++) = std::sqrt(weight) * solved;
  }
  if (num_updates > 0) AddSquareOfRows(updates, factor_, &root);
  return root.selfadjointView<Eigen::Lower>();
}

}  // namespace residua
