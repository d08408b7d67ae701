#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "residua/basis/cell_tree.h"

namespace residua {

// H = n I - 1 1^T, for an attribute of n cells: n times the deviation from the mean. n rows, of
// which n - 1 are independent. Applied in O(n).
struct SubtractionMatrix {
  bool operator==(const SubtractionMatrix&) const = default;
};

// Any integer matrix with a column for each cell of an attribute: `entries` row-major, row by row
// of `num_columns`.
struct IntegerMatrix {
  int64_t num_rows = 0;
  int64_t num_columns = 0;
  std::vector<int64_t> entries;
  bool operator==(const IntegerMatrix&) const = default;
};

// What is measured at a node of a CellTree, of the totals t of its k children:
//   shares:  k rows, factors_c (N t_c - shares_c 1^T t) with N = sum of shares, which vanish where
//            t is in proportion to the shares; k - 1 of them are independent. A single factor
//            stands for all children, no shares for equal ones of 1: then it is the subtraction
//            matrix of the children, times the factor;
//   dense:   k - 1 rows of k integers, row-major; then there are no factors.
struct NodeRows {
  std::vector<int64_t> factors;
  std::vector<int64_t> shares;
  std::vector<int64_t> dense;
  bool operator==(const NodeRows&) const = default;
};

// The rows of all nodes of a tree, the first node first, each applied to its children's totals.
// Applied in O(n), but for dense nodes.
struct TreeMatrix {
  std::shared_ptr<const CellTree> tree;
  std::vector<NodeRows> nodes;
  bool operator==(const TreeMatrix& other) const {
    return *tree == *other.tree && nodes == other.nodes;
  }
};

// For prefix sums and ranges of many cells, n of them: n - 1 rows of the first n - 1 cells and the
// total t of all n,
//   y_i = r_i (sum over j <= i of c_{i-j} d_j x_j - g_i t),
// with r = `row_weights`, c = `kernel`, d = `column_weights`, g = `total_weights`, n - 1 whole
// numbers each; an empty g is 0. Applied in O(n log n).
struct ConvolutionMatrix {
  std::vector<int64_t> row_weights;
  std::vector<int64_t> kernel;
  std::vector<int64_t> column_weights;
  std::vector<int64_t> total_weights = {};
  bool operator==(const ConvolutionMatrix&) const = default;
};

// What is applied along an attribute's axis of the counts before noise is added: the integer form
// of its residual basis.
using ResidualMatrix =
    std::variant<SubtractionMatrix, IntegerMatrix, TreeMatrix, ConvolutionMatrix>;

// The number of integers that are measured along an attribute of `size` cells.
int64_t NumRowsOf(const ResidualMatrix& matrix, int64_t size);

}  // namespace residua
