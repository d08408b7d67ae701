#pragma once

#include <Eigen/Core>
#include <memory>

#include "residua/basis/cell_tree.h"
#include "residua/model/answer_weights.h"
#include "residua/model/attribute.h"

namespace residua {

// What the root of a CellTree tells apart where the groups above its children are left to it: the
// totals t of its children, by any positive definite X. With demand_c the derivative of the
// objective by Var(t_c), multipliers lambda_c of sum 1, and
//   V = diag(demand) + sum over these groups of weight_g 1_g 1_g^T + eta 1 1^T,
// the best one given lambda is X = diag(lambda)^-1/2 A^1/2 diag(lambda)^-1/2,
// A = diag(lambda)^1/2 V diag(lambda)^1/2: StrategySolver's, over the children in place of cells.
// The groups are nested, so that TreeRoot gives all that a step needs in O(number of children).
class TreeTop {
 public:
  // `weights` are those of the attribute's answers.
  TreeTop(const Attribute& attribute, const CellTree& tree, const AnswerWeights& weights);

  struct Solution {
    double c = 0;              // 1 / (1^T X^-1 1)
    Eigen::VectorXd share;     // z = c X^-1 1
    Eigen::VectorXd cost;      // X_cc
    Eigen::VectorXd variance;  // (X^-1)_cc
    // Of the groups that are left to the root: sum of weight_g Var(t_g), and of weight_g (1_g^T z)^2.
    double variance_sum = 0;
    double constant_sum = 0;
  };
  Solution Solve(const Eigen::VectorXd& demand, const Eigen::VectorXd& lambda, double eta) const;
  // X itself.
  Eigen::MatrixXd Dense(const Eigen::VectorXd& demand, const Eigen::VectorXd& lambda,
                        double eta) const;
  // The largest c with V >= c 1 1^T at eta 0, if `scale` of the children stands for their demands.
  double Scale(const Eigen::VectorXd& scale) const;

 private:
  Eigen::VectorXd WeightWith(const Eigen::VectorXd& demand, double eta) const;

  std::shared_ptr<const CellTree> tree_;  // of the groups, with a cell for each child
  Eigen::VectorXd weight_;                // of every vertex; of its cells 0
};

}  // namespace residua
