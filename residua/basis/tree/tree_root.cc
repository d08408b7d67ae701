#include "residua/basis/tree/tree_root.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// A sum over k children rounds k times, and what is done at a vertex 8 times at most, up and down.
double RoundingsOf(const CellTree& tree) {
  std::vector<double> most_below(static_cast<size_t>(tree.num_nodes()), 0);
  for (int64_t node = 0; node < tree.num_nodes(); ++node) {
    double& most = most_below[static_cast<size_t>(node)];
    for (int64_t c = 0; c < tree.num_children(node); ++c) {
      const int64_t child = tree.children_of(node)[c];
      if (!tree.is_cell(child)) {
        most = std::max(most, most_below[static_cast<size_t>(child - tree.num_cells)]);
      }
    }
    most += static_cast<double>(tree.num_children(node)) + 8;
  }
  return 2 * most_below.back();
}

}  // namespace

TreeRoot::TreeRoot(std::shared_ptr<const CellTree> tree, VectorXd weight, const VectorXd& lambda)
    : tree_(std::move(tree)), weight_(std::move(weight)), root_lambda_(lambda.cwiseSqrt()) {
  const Index n = tree_->num_cells;
  const Index root = n + tree_->num_nodes() - 1;
  RESIDUA_CHECK(tree_->num_nodes() > 0 && weight_.size() == root + 1 && lambda.size() == n);
  RESIDUA_CHECK(lambda.minCoeff() > 0 && weight_.head(n).minCoeff() > 0 &&
                weight_.head(root).minCoeff() >= 0);
  // V >= diag(weight of the cells), and the largest eigenvalue of A is at most its trace.
  most_inverse_ = 1 / lambda.cwiseProduct(weight_.head(n)).minCoeff();
  VectorXd below = VectorXd::Zero(root + 1);  // the sum of lambda
  below.head(n) = lambda;
  VectorXd series = VectorXd::Zero(root + 1);  // of the inverses of the children's scales
  VectorXd levels = VectorXd::Ones(root + 1);  // vertices on the longest path down
  scale_ = weight_;
  for (Index v = 0; v <= root; ++v) {
    if (v >= n) scale_(v) += 1 / series(v);
    most_ += weight_(v) * below(v);
    if (v == root) break;
    const auto parent = static_cast<Index>(ParentOf(v));
    below(parent) += below(v);
    series(parent) += 1 / scale_(v);
    levels(parent) = std::max(levels(parent), levels(v) + 1);
  }
  RESIDUA_CHECK(scale_(root) > 0);
  num_levels_ = levels(root);
  // With V' that without the root's weight w, 1 1^T <= `series` V': V >= (1 + w series) V'.
  if (weight_(root) < 0) most_inverse_ /= scale_(root) * series(root);
  terms_ = RootTerms(1 / most_, most_inverse_);
  relative_error_ =
      kRootTolerance + (RoundingsOf(*tree_) + 2 * static_cast<double>(terms_.size())) *
                           std::numeric_limits<double>::epsilon();
  VectorXd precision(root + 1);
  for (const RootTerm& term : terms_) {
    precision.head(n) = term.shift * lambda;
    precision.tail(tree_->num_nodes()).setZero();
    VectorXd& gate = gates_.emplace_back(root + 1);
    for (Index v = 0; v <= root; ++v) {
      gate(v) = 1 / (1 + weight_(v) * precision(v));
      if (v < root) precision(static_cast<Index>(ParentOf(v))) += gate(v) * precision(v);
    }
  }
}

VectorXd TreeRoot::Diagonal() const {
  const Index n = tree_->num_cells;
  const Index root = weight_.size() - 1;
  VectorXd diagonal = VectorXd::Zero(n);
  VectorXd variance(root + 1);
  for (size_t k = 0; k < terms_.size(); ++k) {
    const VectorXd& gate = gates_[k];
    variance(root) = weight_(root) * gate(root);
    for (Index v = root - 1; v >= 0; --v) {
      variance(v) = gate(v) * (weight_(v) + gate(v) * variance(static_cast<Index>(ParentOf(v))));
    }
    diagonal += terms_[k].weight * variance.head(n);
  }
  return diagonal.cwiseProduct(root_lambda_.cwiseAbs2());
}

VectorXd TreeRoot::Apply(const VectorXd& x) const {
  const Index n = tree_->num_cells;
  const Index root = weight_.size() - 1;
  VectorXd product = VectorXd::Zero(n);
  VectorXd value(root + 1);
  for (size_t k = 0; k < terms_.size(); ++k) {
    const VectorXd& gate = gates_[k];
    value.head(n) = root_lambda_.cwiseProduct(x);
    value.tail(tree_->num_nodes()).setZero();
    for (Index v = 0; v < root; ++v) value(static_cast<Index>(ParentOf(v))) += gate(v) * value(v);
    value(root) *= gate(root) * weight_(root);
    for (Index v = root - 1; v >= 0; --v) {
      value(v) = gate(v) * (weight_(v) * value(v) + value(static_cast<Index>(ParentOf(v))));
    }
    product += terms_[k].weight * value.head(n);
  }
  return product.cwiseProduct(root_lambda_);
}

VectorXd TreeRoot::InverseRootOfLambda() const {
  const Index n = tree_->num_cells;
  const Index root = weight_.size() - 1;
  VectorXd sum = VectorXd::Zero(n);
  VectorXd passed(root + 1);
  for (size_t k = 0; k < terms_.size(); ++k) {
    const VectorXd& gate = gates_[k];
    passed(root) = gate(root);
    for (Index v = root - 1; v >= 0; --v) {
      passed(v) = gate(v) * passed(static_cast<Index>(ParentOf(v)));
    }
    sum += terms_[k].weight * passed.head(n);
  }
  return sum.cwiseProduct(root_lambda_);
}

VectorXd TreeRoot::InverseDiagonal() const {
  const Index n = tree_->num_cells;
  const Index root = weight_.size() - 1;
  VectorXd diagonal = VectorXd::Zero(n);
  VectorXd variance(root + 1);
  for (size_t k = 0; k < terms_.size(); ++k) {
    const VectorXd& gate = gates_[k];
    variance(root) = weight_(root) * gate(root);
    for (Index v = root - 1; v >= n; --v) {
      variance(v) = gate(v) * (weight_(v) + gate(v) * variance(static_cast<Index>(ParentOf(v))));
    }
    for (Index v = 0; v < n; ++v) {
      const double known = terms_[k].shift * root_lambda_(v) * root_lambda_(v) * gate(v) *
                           variance(static_cast<Index>(ParentOf(v)));
      diagonal(v) += terms_[k].weight * gate(v) * std::max(0.0, 1 - known);
    }
  }
  return diagonal;
}

// V x = y: below v it is blocks with V_child on the diagonal and weight_v 1 1^T. `sum` is that of
// the solution below v if nothing is taken off y, and `taken` is what is taken off y there for what
// is above it.
VectorXd TreeRoot::Inverse(const VectorXd& x) const {
  const Index n = tree_->num_cells;
  const Index root = weight_.size() - 1;
  VectorXd sum = VectorXd::Zero(root + 1);
  for (Index v = 0; v <= root; ++v) {
    if (v < n) {
      sum(v) = x(v) / root_lambda_(v) / scale_(v);
    } else {
      sum(v) *= 1 - weight_(v) / scale_(v);
    }
    if (v < root) sum(static_cast<Index>(ParentOf(v))) += sum(v);
  }
  VectorXd taken(root + 1);
  taken(root) = 0;
  for (Index v = root; v >= 0; --v) {
    if (v < root) {
      const auto parent = static_cast<Index>(ParentOf(v));
      taken(v) = taken(parent) + weight_(parent) * sum(parent);
    }
    sum(v) -= taken(v) / scale_(v);
  }
  return sum.head(n).cwiseQuotient(root_lambda_);
}

}  // namespace residua
