#pragma once

#include <Eigen/Core>
#include <memory>
#include <stop_token>
#include <vector>

#include "residua/basis/basis_kind.h"
#include "residua/basis/cell_tree.h"
#include "residua/basis/strategy_solver.h"
#include "residua/basis/tree/tree_top.h"

namespace residua {

// The best strategy of a tree of groups in which each node tells its children's totals apart by
// itself, in O(n) a step. Of the totals t of a node's children, given the node's own total T, it
// measures t_c - `share`_c T with precision `precision`_c, and at last the total of all cells:
//   X = c 1 1^T + sum over nodes of C^T G C,   G = (I - 1 z^T) diag(precision) (I - z 1^T),
// with z the shares, of sum 1, and C the sums of cells below each child. It minimises the same
// objective as StrategySolver. Where all children of each node have equal subtrees, an optimal X is
// of this form (averaging over the tree's symmetries); otherwise it is near one: docs/geography.md
// has figures.
//
// X need not be formed. With v = 1 / precision, S = sum of v over the node's children,
//   Var(t_c) = z_c^2 Var(T) + v_c (1 - v_c / S),   Var(all cells) = 1 / c,
//   X_jj = c + sum on the path to j of ((1 - 2 z_c) / v_c + sum over the children d of z_d^2 / v_d).
// Let lambda be multipliers of the cells, L_c their sum below c, L that of the node, and D_c the
// derivative of the objective by Var(t_c): D_c = weight_c + sum over c's children of z^2 D. What
// depends on a node is
//   Var(T) sum D_c z_c^2 + sum D_c v_c (1 - v_c / S) + sum (L_c (1 - 2 z_c) + L z_c^2) / v_c.
// Its best shares have a closed form, and are positive. At the best v,
//   v_c^2 = (L_c (1 - 2 z_c) + L z_c^2) / (D_c (1 - 2 p_c) + sum D_d p_d^2),   p = v / S.
// Where groups are left to the root of the tree (kCut, kBlocks), it has any positive definite X of
// its children's totals in place of c 1 1^T + G: TreeTop. That is for kMean alone.
//
// A step takes the shares from the lambda, v and variances before it, then these v and variances,
// and lambda_j <- lambda_j X_jj, of sum 1; lambda_j <- lambda_j X_jj^1/2, or less, where that swings.
class TreeSolver {
 public:
  TreeSolver(const Attribute& attribute, std::shared_ptr<const CellTree> tree, StrategyGoal goal,
             std::stop_token stop = {});

  // As StrategySolver does. The gap is not proven: it is what lambda's own condition, that X_jj be
  // 1 wherever lambda is not 0, and the last step leave open.
  // `gram` and `constant` are those of the root's children, where groups are left to it, and only
  // `with_gram`.
  Strategy Solve(double trade_off, double tolerance, int max_iterations, bool with_gram = false);

  // Where the next solution starts: multipliers of the cells, of sum 1, and what is best for them.
  void StartFrom(const Eigen::VectorXd& lambda);

  // Of the last solution: lambda, all positive, of sum 1; the weights of every vertex's queries.
  const Eigen::VectorXd& multipliers() const { return multipliers_; }
  const Eigen::VectorXd& weights() const { return weight_; }
  double height() const { return height_; }  // 1^T V^-1 1 at the weights it starts from

 private:
  struct Evaluation;
  void Evaluate(double eta, Evaluation* at) const;
  void EvaluateTop(double eta, const Eigen::VectorXd& below, Evaluation* at) const;
  // Nodes whose children are told apart by shares.
  int64_t NumSharing() const { return tree_->num_nodes() - (top_ != nullptr ? 1 : 0); }
  Eigen::VectorXd OfTopChildren(const Eigen::VectorXd& of_vertex) const;
  Eigen::VectorXd SumsBelow(const Eigen::VectorXd& of_cell) const;
  void Advance(const Evaluation& at);
  void StartWeight();
  void SpreadWeight();
  void AscendWeight(const Evaluation& at);
  double LargestVariance(const Evaluation& at) const;

  std::shared_ptr<const CellTree> tree_;
  std::shared_ptr<const TreeTop> top_;  // of the root, if groups are left to it
  StrategyGoal goal_;
  std::stop_token stop_;
  double height_ = 0;
  Eigen::VectorXd copies_;       // of each vertex: the queries that ask for it
  Eigen::VectorXd importance_;   // of each vertex: that of the most important of these, or 1
  Eigen::VectorXd power_;        // of kMax: what a query of each vertex counts for, up to a factor
  Eigen::VectorXd first_power_;  // of kMax: where that starts; of sum 1 over all queries
  Eigen::VectorXd weight_;       // of each vertex's queries together
  // Where the next step starts.
  Eigen::VectorXd lambda_;    // of each cell, sum 1
  Eigen::VectorXd spread_;    // v of each vertex but the root
  Eigen::VectorXd variance_;  // of each vertex
  Eigen::VectorXd multipliers_;
  int num_halvings_ = 0;  // of the logarithm of lambda's steps
};

}  // namespace residua
