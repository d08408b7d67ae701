#pragma once

#include <Eigen/Dense>

namespace residua::oracle {

// The best that any matrix mechanism can do at privacy cost 1, over the whole domain: the
// minimum over positive definite X with diagonal at most 1 of
//   tr(Q X^-1 Q^T)  or  max_q (Q X^-1 Q^T)_qq,
// between proven bounds. Plain fixed-point steps, for domains of at most a few hundred cells.
struct OptimumBounds {
  double lower = 0;
  double upper = 0;
};
OptimumBounds LeastTotalVariance(const Eigen::MatrixXd& gram, int steps);
OptimumBounds LeastMaxVariance(const Eigen::MatrixXd& queries, int steps);

}  // namespace residua::oracle
