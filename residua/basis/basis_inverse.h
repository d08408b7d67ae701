#pragma once

#include <Eigen/Core>
#include <memory>

#include "residua/basis/residual_basis.h"

namespace residua {

class StructuredInverse;  // basis/structured_inverse.h

// How answers come from what a basis measures: [z | P] = [`constant` | `residual`] of a
// ResidualBasis with an IntegerMatrix. `cumulative` has the sums of the first k rows of `residual`,
// a row for each k of 0..n, so that P^T w of a range w is a difference of two rows.
// With a TreeMatrix or a ConvolutionMatrix, `structured` stands for P, and both matrices are empty.
struct BasisInverse {
  BasisInverse(Eigen::VectorXd constant, Eigen::MatrixXd residual);
  explicit BasisInverse(std::shared_ptr<const StructuredInverse> structured);

  Eigen::VectorXd constant;
  Eigen::MatrixXd residual;
  Eigen::MatrixXd cumulative;
  std::shared_ptr<const StructuredInverse> structured = nullptr;

  // P^T q.
  Eigen::VectorXd RowWeights(const Eigen::VectorXd& query) const;
};

// Of two queries of the attribute, each a vector over its cells: their covariance under noise of
// variance 1 in the residual, q_a^T P Gamma Gamma^T P^T q_b, and the product of their answers on z,
// (q_a^T z)(q_b^T z). The covariance of two product queries in a table is then
//   sum over A' subset A of variance_{A'} prod_{i in A'} residual_i prod_{j in A\A'} constant_j.
struct QueryCovariance {
  double residual = 0;
  double constant = 0;
};
QueryCovariance CovarianceOf(const ResidualBasis& basis, const Eigen::VectorXd& query_a,
                             const Eigen::VectorXd& query_b);

}  // namespace residua
