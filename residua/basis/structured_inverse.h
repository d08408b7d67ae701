#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "residua/basis/query_matrix.h"
#include "residua/basis/residual_basis.h"

namespace residua {

// How answers come from what a basis measures, z and P of I = z 1^T + P Sub, where P is not kept as
// a matrix but applied by its structure.
class StructuredInverse {
 public:
  virtual ~StructuredInverse() = default;

  virtual int64_t num_rows() const = 0;
  virtual int64_t num_cells() const = 0;

  // z over all cells.
  virtual Eigen::VectorXd Constant() const = 0;
  // P^T q, q over all cells.
  virtual Eigen::VectorXd RowWeights(const Eigen::VectorXd& query) const = 0;
  // What each answer contributes to variances, as QueryVariance says.
  virtual std::vector<QueryVariance> Variances(const QueryMatrix& queries) const = 0;

  // P `rows` + z `constant` along the axis: of outer x num_rows x inner and outer x inner values,
  // outer x num_cells x inner.
  virtual void Apply(int64_t outer, int64_t inner, const double* rows, const double* constant,
                     double* result) const = 0;
  // P P^T along the axis, in place, of outer x num_cells x inner values.
  virtual void ApplyProduct(int64_t outer, int64_t inner, double* values) const = 0;
};

}  // namespace residua
