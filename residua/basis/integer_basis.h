#pragma once

#include <Eigen/Core>
#include <memory>

#include "residua/basis/query_space.h"

namespace residua {

// F with F^T F = `gram`, whose null vector is `constant`: the triangular Cholesky factor, with the
// cell of the largest constant last.
Eigen::MatrixXd FactorBasis(const Eigen::MatrixXd& gram, const Eigen::VectorXd& constant);

// Integers Xi = round(scale * F) C, F = `factor`: the residual basis that measures F^T F up to
// rounding. Half of the entries of F are zero and stay so. Each column's rounding is chosen so that
// its norm comes out at most, and as near as can be, at the largest one's.
IntegerMatrix RoundBasis(const QuerySpace& space, const Eigen::MatrixXd& factor, double scale);

// The same for a quotient by the blocks of `tree`, X = G + c 1 1^T with F^T F = G on the blocks and
// `left_over` on what is left of each: subtraction matrices of the blocks, and rows of integers on
// their totals. The scale is 2^`scale_bits` times the size of the largest block, about. A block's
// factor is rounded to the nearest, and its column on the totals makes up for what that costs.
TreeMatrix RoundBlocks(const QuerySpace& space, std::shared_ptr<const CellTree> tree,
                       const Eigen::MatrixXd& factor, const Eigen::VectorXd& left_over,
                       int scale_bits);

// The same for the precisions and shares of a TreeSolver: rows of shares at every node, equal ones
// where all children are alike.
TreeMatrix RoundTree(std::shared_ptr<const CellTree> tree, const Eigen::VectorXd& precisions,
                     const Eigen::VectorXd& shares, int scale_bits);

// The same where groups are left to the root of the tree: F = `factor` on the totals of the root's
// children. Their columns make up for what the rounding below them costs.
TreeMatrix RoundCut(std::shared_ptr<const CellTree> tree, const Eigen::MatrixXd& factor,
                    const Eigen::VectorXd& precisions, const Eigen::VectorXd& shares,
                    int scale_bits);

// The residual basis that a user's strategy matrix S stands for: X = S^T S = c 1 1^T + G with
// c = 1 / (1^T X^-1 1), in the coordinates of `space`.
struct SplitStrategy {
  Eigen::MatrixXd gram;
  Eigen::VectorXd constant;
};
SplitStrategy SplitUserStrategy(const QuerySpace& space, const Attribute& attribute);

}  // namespace residua
