#pragma once

#include <Eigen/Core>

namespace residua {

using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowMajorValues = Eigen::Map<const RowMajorMatrix>;
using RowMajorOutput = Eigen::Map<RowMajorMatrix>;

// The dense products that several files need, compiled once: Eigen takes a second to compile each
// product of an expression. Large products are shared among the caller's threads, in blocks that do
// not depend on their number: results are the same.

Eigen::MatrixXd Product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);            // a b
Eigen::MatrixXd TransposedProduct(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);  // a^T b
Eigen::MatrixXd ProductTransposed(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);  // a b^T
Eigen::VectorXd Product(const Eigen::MatrixXd& a, const Eigen::VectorXd& x);            // a x
Eigen::VectorXd TransposedProduct(const Eigen::MatrixXd& a, const Eigen::VectorXd& x);  // a^T x

Eigen::MatrixXd Outer(const Eigen::VectorXd& x, const Eigen::VectorXd& y);  // x y^T

Eigen::MatrixXd SquareOfRows(const Eigen::MatrixXd& a);          // a a^T
Eigen::MatrixXd LowerSquareOfColumns(const Eigen::MatrixXd& a);  // a^T a, its lower triangle alone

// `sum` += factor a a^T, of a symmetric matrix whose lower triangle alone is read and written.
void AddSquareOfRows(const Eigen::MatrixXd& a, double factor, RowMajorMatrix* sum);

// Values that stand row by row, as those of tables do, on one thread. No two arguments overlap.
void MultiplyFromLeft(const Eigen::MatrixXd& a, const RowMajorValues& values,
                      RowMajorOutput product);  // a values
void MultiplyByTransposed(const RowMajorValues& values, const Eigen::MatrixXd& b,
                          RowMajorOutput product);  // values b^T

// Of upper triangular matrices; what is below their diagonals is zero, or not read.
Eigen::MatrixXd InverseOfUpper(const Eigen::MatrixXd& upper);
Eigen::MatrixXd ProductOfUppers(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);  // a b

}  // namespace residua
