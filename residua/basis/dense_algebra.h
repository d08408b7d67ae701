#pragma once

#include <Eigen/Core>
#include <Eigen/QR>

namespace residua {

// The dense algebra that several files need, compiled once: Eigen takes a second to compile each
// product of an expression, and five for the eigenvalues. Large products are shared among the
// caller's threads, in blocks that do not depend on their number: results are the same.

Eigen::MatrixXd Product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);            // a b
Eigen::MatrixXd TransposedProduct(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);  // a^T b
Eigen::MatrixXd ProductTransposed(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);  // a b^T
Eigen::VectorXd Product(const Eigen::MatrixXd& a, const Eigen::VectorXd& x);            // a x
Eigen::VectorXd TransposedProduct(const Eigen::MatrixXd& a, const Eigen::VectorXd& x);  // a^T x

Eigen::MatrixXd SquareOfRows(const Eigen::MatrixXd& a);  // a a^T

// Of upper triangular matrices; what is below their diagonals is zero, or not read.
Eigen::MatrixXd InverseOfUpper(const Eigen::MatrixXd& upper);
Eigen::MatrixXd ProductOfUppers(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);  // a b

// `symmetric` = vectors diag(values) vectors^T, the values in rising order. Only the lower triangle
// is read.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricEigen EigenOf(const Eigen::MatrixXd& symmetric);
Eigen::VectorXd EigenvaluesOf(const Eigen::MatrixXd& symmetric);

// The lower triangular L with `square` = L Q, Q orthogonal.
Eigen::MatrixXd LowerFactorOf(const Eigen::MatrixXd& square);

// The x of least |`matrix` x - b|, through an orthogonal decomposition with pivoting.
class LeastSquares {
 public:
  explicit LeastSquares(const Eigen::MatrixXd& matrix);
  Eigen::VectorXd Solve(const Eigen::VectorXd& b) const;
  Eigen::MatrixXd Solve(const Eigen::MatrixXd& b) const;  // each column is a b

 private:
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> decomposition_;
};

}  // namespace residua
