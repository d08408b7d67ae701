#pragma once

#include <Eigen/Core>

namespace residua {

// Compiled once: Eigen takes five seconds to compile it.

// `symmetric` = vectors diag(values) vectors^T, the values in rising order. Only the lower triangle
// is read.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricEigen EigenOf(const Eigen::MatrixXd& symmetric);
Eigen::VectorXd EigenvaluesOf(const Eigen::MatrixXd& symmetric);

}  // namespace residua
