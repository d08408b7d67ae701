#pragma once

#include <Eigen/Core>

#include "residua/basis/cell_tree.h"
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
//
// Or it is the quotient by the blocks of a CellTree. The queries, and so an optimal X, are unchanged
// by exchanging cells of a block: X maps the span of the blocks' normalised sums y_g = 1_g^T x /
// sqrt(m_g) to itself, and is a multiple of the identity on what is left of each block. The
// coordinates are the y_g, `cells_of_block` are the m_g, and an answer stands for
// `copies_of_answer` answers: first a cell of each block, then the groups. Of a cell, W has what is
// in the span; the rest, sqrt((m_g - 1) / m_g) of it, is in the left-over part of its block.
//
// Answers count as `importance` and `share` say: see AnswerWeights. In a quotient a share is that of
// all copies.
struct QuerySpace {
  QueryMatrix queries;
  IntegerMatrix columns;
  Eigen::MatrixXd dense_columns;
  Eigen::VectorXd ones;
  Eigen::VectorXd cells_of_block = {};    // empty, but for a quotient
  Eigen::VectorXd copies_of_answer = {};  // the same
  Eigen::VectorXd importance = {};
  Eigen::VectorXd share = {};

  explicit QuerySpace(const Attribute& attribute);
  // The quotient, of at least two blocks.
  QuerySpace(const Attribute& attribute, const CellTree& blocks);
  bool is_quotient() const { return cells_of_block.size() > 0; }
  bool is_full() const { return dense_columns.size() == 0; }
  Eigen::Index rank() const { return ones.size(); }
};

}  // namespace residua
