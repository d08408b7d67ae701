#include "residua/basis/orthogonal_factors.h"

#include <cmath>

#include "residua/basis/dense_products.h"

namespace residua {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd LowerFactorOf(const MatrixXd& square) {
  const Eigen::HouseholderQR<MatrixXd> qr(square.transpose());
  return MatrixXd(qr.matrixQR().triangularView<Eigen::Upper>()).transpose();
}

LeastSquares::LeastSquares(const MatrixXd& matrix) : decomposition_(matrix) {}
VectorXd LeastSquares::Solve(const VectorXd& b) const { return decomposition_.solve(b); }
MatrixXd LeastSquares::Solve(const MatrixXd& b) const { return decomposition_.solve(b); }

// The rows but the first of the reflection that takes `vector` to a multiple of the first unit
// vector.
MatrixXd RowsOrthogonalTo(const VectorXd& vector) {
  const Eigen::Index n = vector.size();
  VectorXd mirror = vector;
  mirror(0) += std::copysign(vector.norm(), vector(0));
  const MatrixXd reflection =
      MatrixXd::Identity(n, n) - Outer(2 / mirror.squaredNorm() * mirror, mirror);
  return reflection.bottomRows(n - 1);
}

}  // namespace residua
