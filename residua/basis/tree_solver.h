#pragma once

#include <Eigen/Core>
#include <memory>
#include <stop_token>
#include <vector>

#include "residua/basis/basis_kind.h"
#include "residua/basis/cell_tree.h"
#include "residua/basis/strategy_solver.h"

namespace residua {

// The best strategy of a tree of groups in which every vertex is measured by itself, in O(n) a step:
// over `precision` s >= 0 of the vertices, with 1_v the cells below v and
//   X = sum_v s_v 1_v 1_v^T,   the sum of s on the path to each cell at most 1,
// it minimises the same objective as StrategySolver. Where all children of each node have equal
// subtrees, an optimal X is of this form (averaging over the tree's symmetries); otherwise it is
// near one: docs/geography.md has figures.
//
// X need not be formed. With c_v the largest number such that the cells below v have
// X_v >= c_v 1 1^T,
//   c_cell = s_cell,   c_v = s_v + h_v,   1 / h_v = sum over children of 1 / c_child,
// and given the total of v, the children's totals are as if measured with variances 1 / c_child:
// they have the shares z_child = h_v / c_child of it, and covariance
// diag(1 / c) - h_v (1 / c) (1 / c)^T. What is below v of G = X - c_root 1 1^T is
// diag(c) - h_v 1 1^T on the children's totals, node by node.
//
// The objective is convex in s and homogeneous of degree -1. For g = - its gradient, lambda = g of
// the cells and t = the largest g_v / (sum of lambda below v), no s does better than
// f^2 / (t sum lambda): the proven gap. Where no node can gain, g_v equals the average of g below
// it; the step on the logarithm of s_v / (what is left below v) is half the logarithm of their
// ratio, which would be exact if subtrees did not depend on each other. The root's s is found in
// closed form; it may be negative, as long as X is positive definite.
class TreeSolver {
 public:
  TreeSolver(const Attribute& attribute, std::shared_ptr<const CellTree> tree, StrategyGoal goal,
             std::stop_token stop = {});

  // As StrategySolver does; of the result, `tree_scale` has the c of every vertex.
  Strategy Solve(double trade_off, double tolerance, int max_iterations);

  // Of the last solution: g of the cells, all positive, scaled to sum 1; the weights of every
  // vertex's queries.
  const Eigen::VectorXd& multipliers() const { return multipliers_; }
  const Eigen::VectorXd& weights() const { return weight_; }

 private:
  struct Evaluation;
  void Evaluate(double eta, Evaluation* at) const;
  void Split(Evaluation* at) const;
  void SpreadWeight();

  std::shared_ptr<const CellTree> tree_;
  StrategyGoal goal_;
  std::stop_token stop_;
  double num_answers_ = 0;
  double height_ = 0;           // 1^T V^-1 1 at equal weights
  Eigen::VectorXd copies_;      // of each vertex: the queries that ask for it
  Eigen::VectorXd importance_;  // of each vertex: that of the most important of these, or 1
  Eigen::VectorXd log_weight_;  // of kMax: of each vertex
  Eigen::VectorXd weight_;      // of each vertex's queries together
  Eigen::VectorXd logit_;       // of each node: s_v against what is left below it
  Eigen::VectorXd multipliers_;
};

}  // namespace residua
