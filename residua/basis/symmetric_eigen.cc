#include "residua/basis/symmetric_eigen.h"

#include <Eigen/Eigenvalues>

namespace residua {

using Eigen::MatrixXd;
using Eigen::VectorXd;

SymmetricEigen EigenOf(const MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VectorXd EigenvaluesOf(const MatrixXd& symmetric) {
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
}

}  // namespace residua
