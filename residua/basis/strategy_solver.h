#pragma once

#include <Eigen/Core>
#include <map>
#include <stop_token>
#include <vector>

#include "residua/basis/basis_kind.h"
#include "residua/basis/bidiagonal_root.h"
#include "residua/basis/query_space.h"

namespace residua {

// Values at the centres of `size` equal parts, from those at the centres of fewer. Beyond the
// outermost centres the line through the last two is followed.
Eigen::VectorXd Stretched(const Eigen::VectorXd& from, Eigen::Index size);

// One attribute's residual basis before it is rounded to integers, as selection sees it. The
// queries' contributions to variances are diag(W P P^T W^T) and (W z)^2. `residual_variance` and
// `constant_variance` are these times the queries' importance; `residual_mean` and `constant_mean`
// are their averages under the solver's query weights.
struct Strategy {
  double privacy_cost = 0;
  double residual_mean = 0;
  double constant_mean = 0;
  double relative_gap = 0;  // proven, to the optimum of the problem below
  int iterations = 0;
  // In the coordinates of its QuerySpace: G = Sub^T Sub with largest diagonal entry (over cells)
  // `privacy_cost`, and z with G z = 0, ones^T z = 1.
  Eigen::MatrixXd gram;
  Eigen::VectorXd constant;
  Eigen::VectorXd left_over;  // of a quotient: G on the left-over part of each block
  // Of a TreeSolver, in place of `gram` and `constant`: of every vertex but the root.
  Eigen::VectorXd tree_precision;
  Eigen::VectorXd tree_share;
  Eigen::VectorXd residual_variance;  // of kMax only
  Eigen::VectorXd constant_variance;  // of kMax only
};

// For a trade-off u, minimises over positive definite X with diagonal at most 1 (over cells)
//   goal over q of (W X^-1 W^T)_qq + eta 1^T X^-1 1,   1 + eta 1^T V^-1 1 = e^u,
// where V = W^T diag(weight) W (for kMax: at the weights it starts from), and splits the solution X = c 1 1^T +
// G. The goal is the mean by the answers' `share`, or the largest `importance` times variance
// (QuerySpace). docs/oblique_basis.md proves that u sweeps every basis worth having. For kOrthogonal, u has no
// effect.
//
// Fixed point: with V + eta 1 1^T = B B^T, multipliers lambda >= 0 of the cells (sum 1) and
// M = B^T C diag(lambda) C^T B:
//   X = B M^-1/2 B^T,   lambda_j <- lambda_j X_jj,
//   weight_q <- weight_q importance_q (w_q^T X^-1 w_q),
// renormalised so that the sums of lambda and of weight / importance are 1, sped up by Anderson acceleration of the logarithms. (tr M^1/2)^2 is a lower bound
// on the optimum, and X divided by its largest diagonal entry attains an upper one. A solution
// starts from the one at the same trade-off, or else from the one before, so that a solver belongs
// to one thread at a time.
//
// A step is the eigenvalues of a dense matrix, or far less: with K = diag(lambda)^1/2 (V + eta 1
// 1^T) diag(lambda)^1/2, lambda_j X_jj is the diagonal of K^1/2, and tr M^1/2 = tr K^1/2. The
// inverse of K is tridiagonal for prefix sums with any weights, and for ranges with equal ones but
// for a matrix of rank one: BidiagonalRoot. In a quotient by blocks the same is solved over the
// blocks: a multiplier stands for the cells of its block, a weight for all answers of its kind, and
// traces count what is left of each block, where everything is a scalar, m_g - 1 times.
class StrategySolver {
 public:
  StrategySolver(const QuerySpace& space, BasisKind kind, StrategyGoal goal,
                 std::stop_token stop = {});

  // Stops at a proven relative gap of `tolerance`, or after `max_iterations`: then the gap says how
  // far it came. Any outcome is a valid basis.
  // Without `with_gram`, `gram` is left empty: nothing else of a fast solution is dense.
  Strategy Solve(double trade_off, double tolerance, int max_iterations, bool with_gram = true);

  // Of kMax: from here on the goal of SolveWeighed is the mean by these weights of the answers, of
  // sum 1, of their importance times variance. In a quotient they are those of all copies.
  void WeighAnswers(const Eigen::VectorXd& answer_weight);
  // As Solve, with V at these weights, and from the multipliers of the last solution.
  Strategy SolveWeighed(double trade_off, double tolerance, int max_iterations,
                        bool with_gram = true);

  // Whether a step takes milliseconds for thousands of cells.
  bool is_fast() const { return is_fast_; }

  // Where the multipliers start, from those of a smaller attribute of the same kind: they are
  // smooth functions of the cell's place. So are the weights of queries of which each cell has one.
  void StartFrom(const StrategySolver& coarser);
  // Of the cells, sum 1: at the last solution, or where the next one starts. In a quotient, of one
  // cell of each block.
  Eigen::VectorXd multipliers() const;
  // Of the queries, at the last solution: which of them bind. In a quotient, of all copies.
  const Eigen::VectorXd& query_weights() const { return weight_; }
  // 1^T V^-1 1 at the last weights.
  double height() const { return height_; }
  // That V + eta 1 1^T is solved for at a trade-off.
  double Eta(double trade_off) const;

 private:
  struct Evaluation;

  Strategy Iterate(double trade_off, double tolerance, int max_iterations, bool with_gram);
  void SpreadWeight();
  void Factor();
  double Evaluate(double trade_off, Evaluation* at) const;
  double EvaluateFast(double trade_off, Evaluation* at) const;
  // Of K; of the same over the queries, the last one first, diag(weight)^1/2 W diag(lambda) W^T
  // diag(weight)^1/2 with eta in the weight of the total.
  BidiagonalRoot CellRoot(const Eigen::VectorXd& lambda, double eta) const;
  BidiagonalRoot PrefixRoot(const Eigen::VectorXd& lambda, double eta) const;
  Eigen::VectorXd WeightWith(double eta) const;
  // X^-1 1, and X.
  Eigen::VectorXd SolveOnes(const Evaluation& at) const;
  Eigen::MatrixXd DenseX(const Evaluation& at) const;

  const QuerySpace* space_;
  BasisKind kind_;
  StrategyGoal goal_;
  std::stop_token stop_;
  bool is_fast_ = false;
  bool weights_move_ = false;   // to the largest variance
  Eigen::MatrixXd embedding_;   // coordinates in use -> those of the space; empty is the identity
  Eigen::MatrixXd projection_;  // the other way; empty is the identity
  Eigen::MatrixXd columns_;     // of each cell, in the coordinates in use; empty is the identity
  struct Point {
    Eigen::VectorXd log_lambda;
    Eigen::VectorXd log_weight;
  };
  std::map<double, Point> solved_;  // by trade-off; kMax only, where solutions take many steps
  Eigen::VectorXd log_lambda_;
  Eigen::VectorXd log_weight_;
  Eigen::VectorXd weight_;
  // V = factor_ factor_^T; factor_ direction_ = ones; height_ = 1^T V^-1 1 = |direction_|^2. Only
  // the height is set where steps are fast.
  Eigen::MatrixXd factor_;
  Eigen::VectorXd direction_;
  double height_ = 0;
  double first_height_ = 0;         // at the weights eta is stated for
  Eigen::VectorXd fixed_constant_;  // z of kOrthogonal, which is the same for every solution
};

}  // namespace residua
