#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "residua/basis/query_matrix.h"
#include "residua/basis/residual_basis.h"
#include "residua/basis/structured_inverse.h"
#include "residua/basis/tree_matrix.h"

namespace residua {

// How answers come from what a TreeMatrix measures: node by node, from the root down. The totals t
// of a node's children come from the node's own total T and its measured rows y as
//   t = z T + P y,   P R = I - z 1^T,   1^T P = 0,
// with R the node's rows and z its `share`. Of shares, z_c = shares_c / N, and with
// r_c = `root`_c = 1 / (factor_c N),
//   P = diag(r) - r^2 r^T / |r|^2:
// the best estimate, since the rows' one dependency, r^T R = 0 up to a factor, is noise alone.
// The noise of different nodes is independent, so that nothing larger than a node is ever dense.
class TreeInverse : public StructuredInverse {
 public:
  // Error{kRefused} if a dense node's rows and the total do not determine its children.
  TreeInverse(const Attribute& attribute, const TreeMatrix& matrix);

  int64_t num_rows() const override { return row_begin_.back(); }
  int64_t num_cells() const override { return tree_->num_cells; }

  // z over all cells: the product of the shares on the way to each.
  Eigen::VectorXd Constant() const override;
  // P^T q, q over all cells.
  Eigen::VectorXd RowWeights(const Eigen::VectorXd& query) const override;
  // What each answer contributes to variances, as QueryVariance says. Cells and groups take time in
  // proportion to the cells they hold, other queries to all cells.
  std::vector<QueryVariance> Variances(const QueryMatrix& queries) const override;

  // P `rows` + z `constant` along the axis: of outer x num_rows x inner and outer x inner values,
  // outer x num_cells x inner.
  void Apply(int64_t outer, int64_t inner, const double* rows, const double* constant,
             double* result) const override;
  // P P^T along the axis, in place, of outer x num_cells x inner values.
  void ApplyProduct(int64_t outer, int64_t inner, double* values) const override;

 private:
  struct Node {
    Eigen::VectorXd share;
    Eigen::VectorXd root;      // of shares
    double squared_norm = 0;   // |root|^2
    Eigen::MatrixXd residual;  // P of a dense node
  };
  // |P^T q|^2 and q^T z for q the sum of the cells, given those of each cell and of each node.
  QueryVariance VarianceOfGroup(std::span<const int64_t> cells,
                                std::span<const QueryVariance> of_cells,
                                std::span<const QueryVariance> of_nodes) const;

  std::shared_ptr<const CellTree> tree_;
  std::vector<Node> nodes_;
  std::vector<int64_t> row_begin_;
};

}  // namespace residua
