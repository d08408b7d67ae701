#pragma once

#include <cstdint>
#include <vector>

#include "residua/base/rational.h"

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
// It is measured in integers: a vector of squared sensitivity `squared_sensitivity` and a noise
// variance `variance_factor` times the base mechanism's, so that
//   privacy_cost = squared_sensitivity / variance_factor.
struct ResidualBasis {
  double privacy_cost = 0;
  int64_t num_answers = 0;
  QueryVariance mean;
  std::vector<QueryVariance> peaks;
  Integer squared_sensitivity;
  Integer variance_factor;
};

// The basis of ordinary marginals: Sub the subtraction matrix, measured as H = n I - 1 1^T with
// noise variance n^2 times the base mechanism's (ResidualPlanner's discrete measurement algorithm).
ResidualBasis IdentityBasis(int64_t size);

}  // namespace residua
