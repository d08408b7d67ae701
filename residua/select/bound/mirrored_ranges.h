#pragma once

#include <Eigen/Core>

#include "residua/basis/bidiagonal_root.h"

namespace residua {

// All ranges of n cells with equal weights, V, and multipliers lambda that are their own mirror
// image, with K^2 = I + (`total_factor` - 1) e_1 e_1^T as SplitOfPrefixes has it. On vectors that
// are their own mirror images diag(lambda)^1/2 (V + eta 1 1^T) diag(lambda)^1/2 is that of prefix
// sums of half the cells, from the middle to the ends, with these weights of sums and `cells`; on
// their opposites it is the square of `opposite`, whose cells go from the ends to the middle.
struct MirroredRanges {
  Eigen::VectorXd cells;
  Eigen::VectorXd weight;
  BidiagonalRoot opposite;
};
// For the mean of `lambda` and its mirror image.
MirroredRanges MirrorRanges(const Eigen::VectorXd& lambda, double total_factor);

}  // namespace residua
