#include "residua/basis/integer_basis.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/orthogonal_factors.h"
#include "residua/basis/triangular_factors.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Rounds a column to integers of squared norm at most `bound` (that of the real column at most),
// changing first the entries whose rounding was the closest call.
void RoundColumn(double bound, Eigen::Ref<VectorXd> column) {
  const VectorXd real = column;
  column = real.array().round();
  std::vector<Index> order;
  for (Index k = 0; k < real.size(); ++k) {
    if (real(k) != 0) order.push_back(k);
  }
  const auto closeness = [&](Index k) { return std::fabs(real(k) - column(k)); };
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return closeness(a) > closeness(b); });
  double norm = column.squaredNorm();  // of integers, exactly
  for (const Index k : order) {
    if (norm <= bound) return;
    const double other = real(k) > column(k) ? column(k) + 1 : column(k) - 1;
    if (std::fabs(other) >= std::fabs(column(k))) continue;
    norm += (other - column(k)) * (other + column(k));
    column(k) = other;
  }
}

}  // namespace

MatrixXd FactorBasis(const MatrixXd& gram, const VectorXd& constant) {
  Index last = 0;
  constant.cwiseAbs().maxCoeff(&last);
  const Index n = gram.rows();
  std::vector<Index> kept;
  for (Index k = 0; k < n; ++k) {
    if (k != last) kept.push_back(k);
  }
  const MatrixXd leading = gram(kept, kept);
  const MatrixXd lower = CholeskyFactorOf(leading);
  const MatrixXd upper = lower.transpose();
  MatrixXd factor(n - 1, n);
  for (Index k = 0; k < n - 1; ++k) factor.col(kept[static_cast<size_t>(k)]) = upper.col(k);
  factor.col(last) = SolveLower(lower, gram(kept, last));
  return factor;
}

IntegerMatrix RoundBasis(const QuerySpace& space, const MatrixXd& real_factor, double scale) {
  MatrixXd factor = scale * real_factor;
  if (space.is_full()) {
    const double bound = factor.colwise().squaredNorm().maxCoeff();
    for (Index k = 0; k < factor.cols(); ++k) RoundColumn(bound, factor.col(k));
  } else {
    factor = factor.array().round();
  }
  const auto num_cells = static_cast<Index>(space.columns.num_columns);
  IntegerMatrix matrix{factor.rows(), num_cells, {}};
  matrix.entries.resize(static_cast<size_t>(factor.rows() * num_cells), 0);
  for (Index row = 0; row < factor.rows(); ++row) {
    for (Index k = 0; k < factor.cols(); ++k) {
      const auto entry = static_cast<int64_t>(factor(row, k));
      if (space.is_full()) {
        matrix.entries[static_cast<size_t>(row * num_cells + k)] = entry;
        continue;
      }
      for (Index cell = 0; cell < num_cells; ++cell) {
        int64_t& sum = matrix.entries[static_cast<size_t>(row * num_cells + cell)];
        sum = CheckedAdd(
            sum, CheckedMultiply(entry,
                                 space.columns.entries[static_cast<size_t>(k * num_cells + cell)]));
      }
    }
  }
  return matrix;
}

SplitStrategy SplitUserStrategy(const QuerySpace& space, const Attribute& attribute) {
  const Eigen::Map<const RowMajorMatrix> strategy(attribute.strategy.entries.data(),
                                                  attribute.strategy.num_rows, attribute.size);
  MatrixXd rows = strategy;
  if (!space.is_full()) {
    const LeastSquares solver(space.dense_columns.transpose());
    rows = solver.Solve(MatrixXd(strategy.transpose())).transpose();
  }
  const MatrixXd x = TransposedProduct(rows, rows);
  const VectorXd solved = SolveSymmetric(x, space.ones);
  RESIDUA_CHECK(solved.allFinite());
  const double c = 1 / space.ones.dot(solved);
  MatrixXd gram = x - Outer(c * space.ones, space.ones);
  // Of any size; scaled so that a cell's privacy cost is at most 1, as for optimised strategies.
  const VectorXd costs = space.is_full() ? VectorXd(gram.diagonal())
                                         : VectorXd(Product(gram, space.dense_columns)
                                                        .cwiseProduct(space.dense_columns)
                                                        .colwise()
                                                        .sum());
  return {gram / costs.maxCoeff(), c * solved};
}

}  // namespace residua
