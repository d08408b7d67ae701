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
// Terms that are computed side by side. The steps of each wait for one another, with a division in
// every one: several at once take hardly longer than one.
constexpr int kTermsAtOnce = 8;
using TermLanes = Eigen::Array<double, kTermsAtOnce, 1>;
using LanesOfCells = Eigen::Array<double, kTermsAtOnce, Eigen::Dynamic>;

// Of kTermsAtOnce terms from `first` on, or fewer, with no weight beyond.
struct TermGroup {
  TermLanes shift;
  TermLanes weight;

  TermGroup(const std::vector<RootTerm>& terms, size_t first) {
    for (int lane = 0; lane < kTermsAtOnce; ++lane) {
      const size_t at = first + static_cast<size_t>(lane);
      shift(lane) = terms[std::min(at, terms.size() - 1)].shift;
      weight(lane) = at < terms.size() ? terms[at].weight : 0;
    }
  }
};

// L diag(pivots) L^T + shift = L' diag(`pivots`) L'^T, with `below` under the diagonal of L'.
struct ShiftedFactors {
  LanesOfCells pivots;
  LanesOfCells below;

  ShiftedFactors(const VectorXd& of_pivots, const VectorXd& of_below, const TermLanes& shift)
      : pivots(kTermsAtOnce, of_pivots.size()), below(kTermsAtOnce, of_below.size()) {
    TermLanes rest = shift;
    for (Index k = 0; k < of_pivots.size(); ++k) {
      const TermLanes pivot = rest + of_pivots(k);
      pivots.col(k) = pivot;
      if (k == of_below.size()) break;
      const TermLanes entry = of_pivots(k) * of_below(k) / pivot;
      below.col(k) = entry;
      rest = entry * of_below(k) * rest + shift;
    }
  }

  LanesOfCells Solve(const VectorXd& x) const {
    const Index n = x.size();
    LanesOfCells solved(kTermsAtOnce, n);
    TermLanes entry = TermLanes::Constant(x(0));
    solved.col(0) = entry;
    for (Index k = 1; k < n; ++k) {
      entry = x(k) - below.col(k - 1) * entry;
      solved.col(k) = entry;
    }
    entry /= pivots.col(n - 1);
    solved.col(n - 1) = entry;
    for (Index k = n - 1; k > 0; --k) {
      entry = solved.col(k - 1) / pivots.col(k - 1) - below.col(k - 1) * entry;
      solved.col(k - 1) = entry;
    }
    return solved;
  }
};

// out += the columns of `lanes`, weighed and summed up.
void AddWeighed(const LanesOfCells& lanes, const TermLanes& weight, VectorXd* out) {
  for (Index k = 0; k < lanes.cols(); ++k) (*out)(k) += (lanes.col(k) * weight).sum();
}

// For each lane, the product with x.
TermLanes DotLanes(const LanesOfCells& lanes, const VectorXd& x) {
  TermLanes sum = TermLanes::Zero();
  for (Index k = 0; k < lanes.cols(); ++k) sum += lanes.col(k) * x(k);
  return sum;
}

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
  const Index n = pivots_.size();
  VectorXd diagonal = VectorXd::Zero(n);
  LanesOfCells from_above(kTermsAtOnce, n);
  for (size_t first = 0; first < terms_.size(); first += kTermsAtOnce) {
    const TermGroup group(terms_, first);
    TermLanes rest = group.shift;
    for (Index k = 0; k < n; ++k) {
      from_above.col(k) = rest;
      if (k + 1 == n) break;
      rest = below_(k) * below_(k) * pivots_(k) * rest / (rest + pivots_(k)) + group.shift;
    }
    TermLanes from_below = TermLanes::Constant(pivots_(n - 1));
    for (Index k = n - 1;; --k) {
      diagonal(k) += (group.weight / (from_above.col(k) + from_below)).sum();
      if (k == 0) break;
      const TermLanes shifted = from_below + group.shift;
      from_below =
          shifted * pivots_(k - 1) / (pivots_(k - 1) * below_(k - 1) * below_(k - 1) + shifted);
    }
    if (update_.size() == 0) continue;
    const ShiftedFactors factors(pivots_, below_, group.shift);
    const LanesOfCells solved = factors.Solve(update_);
    const TermLanes weight = group.weight * factor_ / (1 - factor_ * DotLanes(solved, update_));
    AddWeighed(solved.square(), weight, &diagonal);
  }
  return diagonal;
}

VectorXd BidiagonalRoot::ApplyTerms(const std::vector<RootTerm>& terms, const VectorXd& x) const {
  VectorXd product = VectorXd::Zero(pivots_.size());
  for (size_t first = 0; first < terms.size(); first += kTermsAtOnce) {
    const TermGroup group(terms, first);
    const ShiftedFactors factors(pivots_, below_, group.shift);
    AddWeighed(factors.Solve(x), group.weight, &product);
    if (update_.size() == 0) continue;
    const LanesOfCells solved = factors.Solve(update_);
    AddWeighed(
        solved,
        group.weight * factor_ * DotLanes(solved, x) / (1 - factor_ * DotLanes(solved, update_)),
        &product);
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

BidiagonalRoot RootOfSummedCells(const VectorXd& weight, const VectorXd& cells) {
  const Index n = cells.size();
  VectorXd below(n - 1);
  for (Index k = 0; k + 1 < n; ++k) below(k) = -std::sqrt(cells(k) / cells(k + 1));
  double trace = 0;
  double reached = 0;  // weight of the sums that hold the cell
  for (Index k = n - 1; k >= 0; --k) {
    reached += weight(k);
    trace += cells(k) * reached;
  }
  return {cells.cwiseProduct(weight).cwiseInverse(), std::move(below), {}, 0, trace};
}

BidiagonalRoot RootOfSums(const VectorXd& weight, const VectorXd& cells) {
  const Index n = cells.size();
  VectorXd below(n - 1);
  for (Index k = 0; k + 1 < n; ++k) below(k) = -std::sqrt(weight(k) / weight(k + 1));
  double trace = 0;
  double reached = 0;
  for (Index k = n - 1; k >= 0; --k) {
    reached += cells(k);
    trace += weight(k) * reached;
  }
  return {weight.cwiseProduct(cells).cwiseInverse(), std::move(below), {}, 0, trace};
}

}  // namespace residua
