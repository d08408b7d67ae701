#include "residua/basis/basis_inverse.h"

#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

Eigen::MatrixXd CumulativeRows(const Eigen::MatrixXd& matrix) {
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(matrix.rows() + 1, matrix.cols());
  for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
    for (Eigen::Index k = 0; k < matrix.rows(); ++k) sums(k + 1, j) = sums(k, j) + matrix(k, j);
  }
  return sums;
}

}  // namespace

BasisInverse::BasisInverse(Eigen::VectorXd z, Eigen::MatrixXd p)
    : constant(std::move(z)), residual(std::move(p)), cumulative(CumulativeRows(residual)) {}

QueryCovariance CovarianceOf(const ResidualBasis& basis, const Eigen::VectorXd& query_a,
                             const Eigen::VectorXd& query_b) {
  RESIDUA_CHECK(query_a.size() == basis.size && query_b.size() == basis.size);
  if (basis.is_identity()) {
    const auto n = static_cast<double>(basis.size);
    const double sums = query_a.sum() * query_b.sum();
    return {query_a.dot(query_b) - sums / n, sums / (n * n)};
  }
  const BasisInverse& inverse = *basis.inverse;
  return {(inverse.residual.transpose() * query_a).dot(inverse.residual.transpose() * query_b),
          query_a.dot(inverse.constant) * query_b.dot(inverse.constant)};
}

}  // namespace residua
