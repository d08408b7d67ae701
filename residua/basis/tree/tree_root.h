#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "residua/basis/cell_tree.h"
#include "residua/basis/matrix_root.h"

namespace residua {

// The root of A = diag(lambda)^1/2 V diag(lambda)^1/2 for the queries of a tree of groups,
//   V = sum over vertices v of weight_v 1_v 1_v^T,
// with 1_v the cells below v. The weights of cells and all of `lambda` are positive, those of nodes
// are not negative, but for the root's, where V must stay positive definite. O(n) for each term of
// the root.
//
// V is the covariance of a walk down the tree: a vertex has its parent's value and an increment of
// variance weight_v of its own. So (V^-1 + shift diag(lambda))^-1 is what is left of it when every
// cell is observed with precision shift * lambda. Two passes over the tree give it (Kalman; Rauch,
// Tung and Striebel). With p_v the precision of what is observed below v and
// gate_v = 1 / (1 + weight_v p_v), upwards p_parent = sum of gate_v p_v; downwards the variances
// are weight_v gate_v + gate_v^2 variance_parent. Only positive numbers are added, unless the root's
// weight is negative: every entry of the root is right to nearly all digits.
class TreeRoot : public MatrixRoot {
 public:
  // `weight` has every vertex, `lambda` every cell.
  TreeRoot(std::shared_ptr<const CellTree> tree, Eigen::VectorXd weight,
           const Eigen::VectorXd& lambda);

  Eigen::VectorXd Diagonal() const override;
  Eigen::VectorXd Apply(const Eigen::VectorXd& x) const override;
  Eigen::VectorXd Inverse(const Eigen::VectorXd& x) const override;
  // A^-1/2 lambda^1/2. A term of it is (1 + shift A)^-1 lambda^1/2, lambda^1/2 times the product of
  // the gates on the way from a cell to the root: every entry is right to `path_error`.
  Eigen::VectorXd InverseRootOfLambda() const;
  // Of A^-1/2. Its terms are gate_j (1 - shift lambda_j gate_j variance_parent): a cell that says
  // nearly all that is known of its parent has few digits.
  Eigen::VectorXd InverseDiagonal() const;
  double most() const override { return most_; }
  double most_inverse() const override { return most_inverse_; }
  double relative_error() const override { return relative_error_; }
  // That of a gate, for each vertex on the longest path.
  double path_error() const { return num_levels_ * relative_error_; }
  double height() const { return 1 / scale_(scale_.size() - 1); }  // 1^T V^-1 1

 private:
  // The parent of a vertex, as a vertex.
  size_t ParentOf(Eigen::Index vertex) const {
    return static_cast<size_t>(tree_->num_cells + tree_->parent[static_cast<size_t>(vertex)]);
  }

  std::shared_ptr<const CellTree> tree_;
  Eigen::VectorXd weight_;
  Eigen::VectorXd root_lambda_;  // lambda^1/2
  // Of each vertex: the largest c with V >= c 1 1^T on the cells below it, as TreeSolver has it.
  Eigen::VectorXd scale_;
  double most_ = 0;
  double most_inverse_ = 0;
  double relative_error_ = 0;
  double num_levels_ = 0;  // vertices on the longest path
  std::vector<RootTerm> terms_;
  std::vector<Eigen::VectorXd> gates_;  // of each term: gate_v
};

}  // namespace residua
