#include "residua/basis/triangular_factors.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "residua/base/error.h"

namespace residua {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd CholeskyFactorOf(const MatrixXd& symmetric) {
  const Eigen::LLT<MatrixXd> cholesky(symmetric);
  if (cholesky.info() != Eigen::Success) {
    Fail(ErrorKind::kRefused, "a matrix is not positive definite in double precision");
  }
  return cholesky.matrixL();
}

VectorXd SolveLower(const MatrixXd& lower, const VectorXd& b) {
  return lower.triangularView<Eigen::Lower>().solve(b);
}
VectorXd SolveLowerTransposed(const MatrixXd& lower, const VectorXd& b) {
  return lower.triangularView<Eigen::Lower>().transpose().solve(b);
}
MatrixXd SolveLowerTransposed(const MatrixXd& lower, const MatrixXd& b) {
  return lower.triangularView<Eigen::Lower>().transpose().solve(b);
}

VectorXd SolveSymmetric(const MatrixXd& symmetric, const VectorXd& b) {
  return SolveSymmetric(symmetric, MatrixXd(b));
}
MatrixXd SolveSymmetric(const MatrixXd& symmetric, const MatrixXd& b) {
  return symmetric.ldlt().solve(b);
}

MatrixXd InverseOf(const MatrixXd& square) { return square.partialPivLu().inverse(); }

}  // namespace residua
