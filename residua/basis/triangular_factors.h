#pragma once

#include <Eigen/Core>

namespace residua {

// The triangular factorisations that several files need, compiled once: Eigen takes seconds to
// compile each.

// The lower triangular L with positive diagonal and `symmetric` = L L^T. Error{kRefused} if there
// is none, as far as doubles can tell.
Eigen::MatrixXd CholeskyFactorOf(const Eigen::MatrixXd& symmetric);
// L x = b and L^T x = b; of L only the lower triangle is read.
Eigen::VectorXd SolveLower(const Eigen::MatrixXd& lower, const Eigen::VectorXd& b);
Eigen::VectorXd SolveLowerTransposed(const Eigen::MatrixXd& lower, const Eigen::VectorXd& b);
Eigen::MatrixXd SolveLowerTransposed(const Eigen::MatrixXd& lower, const Eigen::MatrixXd& b);

// The x with `symmetric` x = b, which may be nearly singular.
Eigen::VectorXd SolveSymmetric(const Eigen::MatrixXd& symmetric, const Eigen::VectorXd& b);
Eigen::MatrixXd SolveSymmetric(const Eigen::MatrixXd& symmetric, const Eigen::MatrixXd& b);

// Of a square matrix; entries that are not finite tell that there is none.
Eigen::MatrixXd InverseOf(const Eigen::MatrixXd& square);

}  // namespace residua
