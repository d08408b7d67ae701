#pragma once

#include <Eigen/Core>

#include "residua/basis/query_matrix.h"
#include "residua/basis/residual_matrix.h"

namespace residua {

// What an attribute's queries can tell apart. W = `queries` * C, where the rows of the integer
// matrix C = `columns` are independent and span the rows of W (of the strategy, where the user gave
// one); `ones` are the coefficients of the all-ones row, C^T ones = 1. Where W has full column rank
// C is the identity, and `dense_columns` is left empty.
//
// Everything about bases is done in these coordinates, C x instead of the counts x, so that a basis
// rounded to integers never leaves the row space: Sub = (integers) * C.
struct QuerySpace {
  QueryMatrix queries;
  IntegerMatrix columns;
  Eigen::MatrixXd dense_columns;
  Eigen::VectorXd ones;

  explicit QuerySpace(const Attribute& attribute);
  bool is_full() const { return dense_columns.size() == 0; }
  Eigen::Index rank() const { return ones.size(); }
};

}  // namespace residua
