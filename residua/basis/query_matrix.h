#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "residua/basis/query_limits.h"
#include "residua/model/attribute.h"

namespace residua {

// An attribute's query matrix W, one row per answer and one column per cell. Only a custom one is
// ever stored; the others are applied by sweeps: a running sum for prefixes, differences of running
// sums for ranges, a sum over each group's cells for hierarchies.
class QueryMatrix {
 public:
  // Error{kBadInput} unless the attribute's groups or matrices fit its size: see CheckQueries.
  explicit QueryMatrix(const Attribute& attribute);
  // A custom query matrix.
  explicit QueryMatrix(Eigen::MatrixXd matrix);

  QueryKind kind() const { return kind_; }
  int64_t num_cells() const { return num_cells_; }
  int64_t num_answers() const { return num_answers_; }
  // Of a hierarchy, the cells of each group.
  const std::vector<std::vector<int64_t>>& groups() const { return groups_; }

  // Row `answer` of W.
  Eigen::VectorXd Row(int64_t answer) const;
  // W x.
  Eigen::VectorXd Apply(const Eigen::VectorXd& cells) const;
  // W^T W, and W^T diag(weight) W.
  Eigen::MatrixXd Gram() const;
  Eigen::MatrixXd Gram(const Eigen::VectorXd& weight) const;
  // The diagonal of W M W^T, for symmetric M.
  Eigen::VectorXd QuadraticForms(const Eigen::MatrixXd& symmetric) const;

  // The squared norms of the rows of W P.
  Eigen::VectorXd SquaredNorms(const Eigen::MatrixXd& p) const;

  // Applies W along the middle axis of a row-major tensor of outer x num_cells x inner values; the
  // result has outer x num_answers x inner.
  std::vector<double> ApplyAlongAxis(const std::vector<double>& values, int64_t outer,
                                     int64_t inner) const;

 private:
  QueryKind kind_;
  int64_t num_cells_;
  int64_t num_answers_;
  std::vector<std::vector<int64_t>> groups_;
  Eigen::MatrixXd custom_;
};

}  // namespace residua
