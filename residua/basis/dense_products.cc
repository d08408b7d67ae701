#include "residua/basis/dense_products.h"

#include <algorithm>

#include "residua/base/threads.h"

namespace residua {

using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

// Eigen splits products by the processor's caches, and the order of its sums follows from that.
// With sizes that are common today, a plan does not depend on the machine.
[[maybe_unused]] const bool kHasCacheSizes = [] {
  constexpr std::ptrdiff_t kKilobyte = 1024;
  Eigen::setCpuCacheSizes(32 * kKilobyte, 256 * kKilobyte, 2048 * kKilobyte);
  return true;
}();

// Columns of a product that one thread computes at once.
constexpr Eigen::Index kBlockColumns = 128;

// block(first, count) for all columns.
template <typename Block>
void ForBlocks(Eigen::Index columns, const Block& block) {
  ParallelFor(Eigen::Index{0}, (columns + kBlockColumns - 1) / kBlockColumns, [&](Eigen::Index k) {
    const Eigen::Index first = k * kBlockColumns;
    block(first, std::min(kBlockColumns, columns - first));
  });
}

}  // namespace

MatrixXd Product(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd product(a.rows(), b.cols());
  ForBlocks(b.cols(), [&](Eigen::Index first, Eigen::Index count) {
    product.middleCols(first, count).noalias() = a * b.middleCols(first, count);
  });
  return product;
}

MatrixXd TransposedProduct(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd product(a.cols(), b.cols());
  ForBlocks(b.cols(), [&](Eigen::Index first, Eigen::Index count) {
    product.middleCols(first, count).noalias() = a.transpose() * b.middleCols(first, count);
  });
  return product;
}

MatrixXd ProductTransposed(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd product(a.rows(), b.rows());
  ForBlocks(b.rows(), [&](Eigen::Index first, Eigen::Index count) {
    product.middleCols(first, count).noalias() = a * b.middleRows(first, count).transpose();
  });
  return product;
}

MatrixXd SquareOfRows(const MatrixXd& a) {
  MatrixXd square(a.rows(), a.rows());
  ForBlocks(a.rows(), [&](Eigen::Index first, Eigen::Index count) {
    const Eigen::Index rest = a.rows() - first;
    square.block(first, first, rest, count).noalias() =
        a.bottomRows(rest) * a.middleRows(first, count).transpose();
  });
  square.triangularView<Eigen::StrictlyUpper>() = square.transpose();
  return square;
}

MatrixXd LowerSquareOfColumns(const MatrixXd& a) {
  MatrixXd square = MatrixXd::Zero(a.cols(), a.cols());
  square.selfadjointView<Eigen::Lower>().rankUpdate(a.transpose());
  return square;
}

void AddSquareOfRows(const MatrixXd& a, double factor, RowMajorMatrix* sum) {
  sum->selfadjointView<Eigen::Lower>().rankUpdate(a, factor);
}

void MultiplyFromLeft(const MatrixXd& a, const RowMajorValues& values, RowMajorOutput product) {
  product.noalias() = a * values;
}
void MultiplyByTransposed(const RowMajorValues& values, const MatrixXd& b, RowMajorOutput product) {
  product.noalias() = values * b.transpose();
}

MatrixXd InverseOfUpper(const MatrixXd& upper) {
  const Eigen::Index n = upper.rows();
  if (n <= kBlockColumns) {
    return upper.triangularView<Eigen::Upper>().solve(MatrixXd::Identity(n, n));
  }
  // Of the two blocks on the diagonal, then what is beside them: -A^-1 B C^-1.
  const Eigen::Index half = n / 2;
  MatrixXd inverse = MatrixXd::Zero(n, n);
  const MatrixXd first = InverseOfUpper(upper.topLeftCorner(half, half));
  const MatrixXd second = InverseOfUpper(upper.bottomRightCorner(n - half, n - half));
  MatrixXd beside(half, n - half);
  ForBlocks(n - half, [&](Eigen::Index start, Eigen::Index count) {
    beside.middleCols(start, count) =
        first.triangularView<Eigen::Upper>() * upper.block(0, half + start, half, count);
  });
  ForBlocks(n - half, [&](Eigen::Index start, Eigen::Index count) {
    const Eigen::Index end = start + count;
    inverse.block(0, half + start, half, count).noalias() =
        -(beside.leftCols(end) * second.block(0, start, end, count));
  });
  inverse.topLeftCorner(half, half) = first;
  inverse.bottomRightCorner(n - half, n - half) = second;
  return inverse;
}

MatrixXd ProductOfUppers(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd product = MatrixXd::Zero(a.rows(), b.cols());
  ForBlocks(b.cols(), [&](Eigen::Index start, Eigen::Index count) {
    const Eigen::Index end = start + count;
    product.block(0, start, end, count) =
        a.topLeftCorner(end, end).triangularView<Eigen::Upper>() * b.block(0, start, end, count);
  });
  return product;
}

VectorXd Product(const MatrixXd& a, const VectorXd& x) { return a * x; }
VectorXd TransposedProduct(const MatrixXd& a, const VectorXd& x) { return a.transpose() * x; }
MatrixXd Outer(const VectorXd& x, const VectorXd& y) { return x * y.transpose(); }

}  // namespace residua
