#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "residua/base/rational.h"
#include "residua/basis/residual_matrix.h"

namespace residua {

// What one query of an attribute contributes to the variance of a table cell: `residual` if the
// base mechanism contains the attribute (its diagonal entry of W P Gamma Gamma^T P^T W^T),
// `constant` if not (its squared entry of W z).
struct QueryVariance {
  double residual = 0;
  double constant = 0;
};

// An attribute's residual basis, as far as choosing noise needs it. With I = z 1^T + P Sub and
// noise covariance Gamma Gamma^T:
//   `privacy_cost`  = max diag(Sub^T (Gamma Gamma^T)^-1 Sub), beta in the mathematics;
//   `mean`          = the average over the attribute's `num_answers` queries of what each
//   contributes; `peaks`         = contributions of the queries that can have the largest variance
//   in a table.
// It is measured in integers: the counts times `matrix`, of squared sensitivity
// `squared_sensitivity`, with a noise variance `variance_factor` times the base mechanism's, so
// that
//   privacy_cost = squared_sensitivity / variance_factor.
// With an IntegerMatrix, Sub = matrix, Gamma = I, and [1^T; matrix]^-1 = [`constant` | `residual`]
// = [z | P]. With a SubtractionMatrix both are left empty: z = 1/n, and P applied to what Sub would
// give is (1/n)(I - 1 1^T / n) applied to what H gives.
struct ResidualBasis {
  int64_t size = 0;  // number of cells
  double privacy_cost = 0;
  int64_t num_answers = 0;
  QueryVariance mean;
  std::vector<QueryVariance> peaks;
  Integer squared_sensitivity;
  Integer variance_factor;
  ResidualMatrix matrix;
  Eigen::VectorXd constant;
  Eigen::MatrixXd residual;

  bool is_identity() const { return std::holds_alternative<SubtractionMatrix>(matrix); }
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

// The basis of ordinary marginals: Sub the subtraction matrix, measured as H = n I - 1 1^T with
// noise variance n^2 times the base mechanism's (ResidualPlanner's discrete measurement algorithm).
ResidualBasis IdentityBasis(int64_t size);

}  // namespace residua
