#include "residua/basis/orthogonal_factors.h"

#include <algorithm>
#include <cmath>

#include "residua/basis/dense_products.h"
#include "residua/basis/triangular_factors.h"

namespace residua {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Reflections are applied one by one, to as many columns at once as fit the cache beside them.
// Eigen's own way, in blocks of reflections, takes four seconds longer to compile.
constexpr Index kReflectedColumns = 16;

}  // namespace

MatrixXd LowerFactorOf(const MatrixXd& square) {
  const Index n = square.rows();
  MatrixXd upper = square.transpose();
  VectorXd workspace(n);
  for (Index k = 0; k + 1 < n; ++k) {
    VectorXd essential(n - k - 1);
    double factor = 0;
    double diagonal = 0;
    upper.col(k).tail(n - k).makeHouseholder(essential, factor, diagonal);
    upper.bottomRightCorner(n - k, n - k)
        .applyHouseholderOnTheLeft(essential, factor, workspace.data());
    upper.col(k).tail(n - k - 1).setZero();
  }
  return upper.transpose();
}

LeastSquares::LeastSquares(const MatrixXd& matrix) : decomposition_(matrix) {}

MatrixXd LeastSquares::Solve(const MatrixXd& b) const {
  const MatrixXd& factors = decomposition_.matrixQR();
  const Index rank = decomposition_.nonzeroPivots();
  MatrixXd reflected = b;
  VectorXd workspace(kReflectedColumns);
  for (Index first = 0; first < b.cols(); first += kReflectedColumns) {
    auto columns = reflected.middleCols(first, std::min(kReflectedColumns, b.cols() - first));
    for (Index k = 0; k < rank; ++k) {
      const Index below = factors.rows() - k - 1;
      columns.bottomRows(below + 1).applyHouseholderOnTheLeft(
          factors.col(k).tail(below), decomposition_.hCoeffs()(k), workspace.data());
    }
  }
  const MatrixXd solved = SolveLowerTransposed(factors.topLeftCorner(rank, rank).transpose(),
                                               MatrixXd(reflected.topRows(rank)));
  MatrixXd x = MatrixXd::Zero(factors.cols(), b.cols());
  for (Index k = 0; k < rank; ++k) {
    x.row(decomposition_.colsPermutation().indices()(k)) = solved.row(k);
  }
  return x;
}

// The rows but the first of the reflection that takes `vector` to a multiple of the first unit
// vector.
MatrixXd RowsOrthogonalTo(const VectorXd& vector) {
  const Index n = vector.size();
  VectorXd mirror = vector;
  mirror(0) += std::copysign(vector.norm(), vector(0));
  const MatrixXd reflection =
      MatrixXd::Identity(n, n) - Outer(2 / mirror.squaredNorm() * mirror, mirror);
  return reflection.bottomRows(n - 1);
}

}  // namespace residua
