#include "residua/basis/query_space.h"

#include <Eigen/Core>

#include "residua/base/error.h"
#include "residua/basis/orthogonal_factors.h"
#include "residua/basis/row_space.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

IntegerMatrix ColumnsOf(const Attribute& attribute) {
  if (attribute.queries != QueryKind::kCustom) return {attribute.size, attribute.size, {}};
  return RowSpaceBasis(attribute.size,
                       attribute.strategy.num_rows > 0 ? attribute.strategy : attribute.custom);
}

MatrixXd Dense(const IntegerMatrix& matrix) {
  RowMajorMatrix dense(matrix.num_rows, matrix.num_columns);
  for (size_t k = 0; k < matrix.entries.size(); ++k) {
    dense.data()[k] = static_cast<double>(matrix.entries[k]);
  }
  return dense;
}

}  // namespace

QuerySpace::QuerySpace(const Attribute& attribute)
    : queries(attribute), columns(ColumnsOf(attribute)) {
  if (columns.num_rows == columns.num_columns) {
    columns.entries.clear();
    ones = VectorXd::Ones(attribute.size);
    return;
  }
  dense_columns = Dense(columns);
  // Solved through an orthogonal decomposition of C^T: the user's rows may be nearly dependent.
  const LeastSquares solver(dense_columns.transpose());
  ones = solver.Solve(VectorXd(VectorXd::Ones(attribute.size)));
  const Eigen::Map<const RowMajorMatrix> custom(attribute.custom.entries.data(),
                                                attribute.custom.num_rows, attribute.size);
  queries = QueryMatrix(MatrixXd(solver.Solve(MatrixXd(custom.transpose())).transpose()));
}

}  // namespace residua
