#pragma once

#include <Eigen/Core>
#include <Eigen/QR>

namespace residua {

// The orthogonal factorisations that several files need, compiled once: Eigen takes five seconds to
// compile each.

// The lower triangular L with `square` = L Q, Q orthogonal.
Eigen::MatrixXd LowerFactorOf(const Eigen::MatrixXd& square);

// The x of least |`matrix` x - b|, through an orthogonal decomposition with pivoting.
class LeastSquares {
 public:
  explicit LeastSquares(const Eigen::MatrixXd& matrix);
  Eigen::MatrixXd Solve(const Eigen::MatrixXd& b) const;  // each column is a b

 private:
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> decomposition_;
};

// Orthonormal rows, each orthogonal to `vector`: one fewer than it has entries.
Eigen::MatrixXd RowsOrthogonalTo(const Eigen::VectorXd& vector);

}  // namespace residua
