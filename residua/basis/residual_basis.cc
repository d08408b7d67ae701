#include "residua/basis/residual_basis.h"

#include "residua/base/error.h"

namespace residua {

ResidualBasis IdentityBasis(int64_t size) {
  RESIDUA_CHECK(size >= 2);
  const auto n = static_cast<double>(size);
  const Integer exact_n = static_cast<long>(size);
  ResidualBasis basis;
  basis.size = size;
  basis.privacy_cost = (n - 1) / n;
  basis.num_answers = size;
  basis.mean = {(n - 1) / n, 1 / (n * n)};
  basis.peaks = {basis.mean};
  basis.squared_sensitivity = exact_n * (exact_n - 1);
  basis.variance_factor = exact_n * exact_n;
  return basis;
}

QueryCovariance CovarianceOf(const ResidualBasis& basis, const Eigen::VectorXd& query_a,
                             const Eigen::VectorXd& query_b) {
  RESIDUA_CHECK(query_a.size() == basis.size && query_b.size() == basis.size);
  if (basis.is_identity()) {
    const auto n = static_cast<double>(basis.size);
    const double sums = query_a.sum() * query_b.sum();
    return {query_a.dot(query_b) - sums / n, sums / (n * n)};
  }
  return {(basis.residual.transpose() * query_a).dot(basis.residual.transpose() * query_b),
          query_a.dot(basis.constant) * query_b.dot(basis.constant)};
}

}  // namespace residua
