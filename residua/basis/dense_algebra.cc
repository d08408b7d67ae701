#include "residua/basis/dense_algebra.h"

#include <Eigen/Eigenvalues>

namespace residua {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd Product(const MatrixXd& a, const MatrixXd& b) { return a * b; }
MatrixXd TransposedProduct(const MatrixXd& a, const MatrixXd& b) { return a.transpose() * b; }
MatrixXd ProductTransposed(const MatrixXd& a, const MatrixXd& b) { return a * b.transpose(); }
VectorXd Product(const MatrixXd& a, const VectorXd& x) { return a * x; }
VectorXd TransposedProduct(const MatrixXd& a, const VectorXd& x) { return a.transpose() * x; }

SymmetricEigen EigenOf(const MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VectorXd EigenvaluesOf(const MatrixXd& symmetric) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

MatrixXd LowerFactorOf(const MatrixXd& square) {
  const Eigen::HouseholderQR<MatrixXd> qr(square.transpose());
  return MatrixXd(qr.matrixQR().triangularView<Eigen::Upper>()).transpose();
}

LeastSquares::LeastSquares(const MatrixXd& matrix) : decomposition_(matrix) {}
VectorXd LeastSquares::Solve(const VectorXd& b) const { return decomposition_.solve(b); }
MatrixXd LeastSquares::Solve(const MatrixXd& b) const { return decomposition_.solve(b); }

}  // namespace residua
