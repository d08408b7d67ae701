#include "residua/basis/query_space.h"

#include <Eigen/Core>

#include <cmath>

#include "residua/base/error.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/orthogonal_factors.h"
#include "residua/basis/row_space.h"
#include "residua/model/answer_weights.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

IntegerMatrix ColumnsOf(const Attribute& attribute) {
  if (attribute.queries != QueryKind::kCustom) return {attribute.size, attribute.size, {}};
  return RowSpaceBasis(attribute.size,
                       attribute.strategy.num_rows > 0 ? attribute.strategy : attribute.custom);
}

VectorXd AsVector(const std::vector<double>& numbers) {
  return Eigen::Map<const VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

MatrixXd Dense(const IntegerMatrix& matrix) {
  RowMajorMatrix dense(matrix.num_rows, matrix.num_columns);
  for (size_t k = 0; k < matrix.entries.size(); ++k) {
    dense.data()[k] = static_cast<double>(matrix.entries[k]);
  }
  return dense;
}

}  // namespace

QuerySpace::QuerySpace(const Attribute& attribute)
    : queries(attribute), columns(ColumnsOf(attribute)) {
  const AnswerWeights weights = WeighAnswers(attribute);
  importance = AsVector(weights.importance);
  share = AsVector(weights.share);
  if (columns.num_rows == columns.num_columns) {
    columns.entries.clear();
    ones = VectorXd::Ones(attribute.size);
    return;
  }
  dense_columns = Dense(columns);
  // Solved through an orthogonal decomposition of C^T: the user's rows may be nearly dependent.
  const LeastSquares solver(dense_columns.transpose());
  ones = solver.Solve(MatrixXd::Ones(attribute.size, 1));
  const Eigen::Map<const RowMajorMatrix> custom(attribute.custom.entries.data(),
                                                attribute.custom.num_rows, attribute.size);
  queries = QueryMatrix(MatrixXd(solver.Solve(MatrixXd(custom.transpose())).transpose()));
}

namespace {

// Row g: a cell of block g, as far as it is in the span of the blocks' sums. Then the groups.
MatrixXd QueriesOnBlocks(const Attribute& attribute, const std::vector<int64_t>& block,
                         const VectorXd& cells) {
  const Eigen::Index num_blocks = cells.size();
  MatrixXd rows =
      MatrixXd::Zero(num_blocks + static_cast<Eigen::Index>(attribute.groups.size()), num_blocks);
  rows.diagonal() = cells.cwiseSqrt().cwiseInverse();
  for (size_t k = 0; k < attribute.groups.size(); ++k) {
    const auto row = num_blocks + static_cast<Eigen::Index>(k);
    for (const int64_t cell : attribute.groups[k].cells) {
      const int64_t g = block[static_cast<size_t>(cell)];
      rows(row, g) = std::sqrt(cells(g));
    }
  }
  return rows;
}

VectorXd SizesOfBlocks(const CellTree& blocks, std::vector<int64_t>* block_of_cell) {
  RESIDUA_CHECK(blocks.kind == CellTree::Kind::kBlocks && blocks.num_nodes() > 1);
  const int64_t root = blocks.num_nodes() - 1;
  VectorXd sizes(blocks.num_children(root));
  block_of_cell->resize(static_cast<size_t>(blocks.num_cells));
  for (int64_t g = 0; g < sizes.size(); ++g) {
    const int64_t child = blocks.children_of(root)[g];
    sizes(g) = 1;
    if (blocks.is_cell(child)) {
      (*block_of_cell)[static_cast<size_t>(child)] = g;
      continue;
    }
    const int64_t node = child - blocks.num_cells;
    sizes(g) = static_cast<double>(blocks.num_children(node));
    for (int64_t c = 0; c < blocks.num_children(node); ++c) {
      (*block_of_cell)[static_cast<size_t>(blocks.children_of(node)[c])] = g;
    }
  }
  return sizes;
}

}  // namespace

QuerySpace::QuerySpace(const Attribute& attribute, const CellTree& blocks)
    : queries(MatrixXd(0, 0)) {
  std::vector<int64_t> block;
  cells_of_block = SizesOfBlocks(blocks, &block);
  ones = cells_of_block.cwiseSqrt();
  columns = {ones.size(), ones.size(), {}};
  queries = QueryMatrix(QueriesOnBlocks(attribute, block, cells_of_block));
  copies_of_answer = VectorXd::Ones(queries.num_answers());
  copies_of_answer.head(ones.size()) = cells_of_block;
  // All cells are of one level.
  const AnswerWeights weights = WeighAnswers(attribute);
  const auto of_copies = [&](const std::vector<double>& of_answer) {
    VectorXd of_copy(queries.num_answers());
    of_copy.head(ones.size()).setConstant(of_answer.front());
    of_copy.tail(queries.num_answers() - ones.size()) =
        AsVector(of_answer).tail(static_cast<Eigen::Index>(attribute.groups.size()));
    return of_copy;
  };
  importance = of_copies(weights.importance);
  share = of_copies(weights.share).cwiseProduct(copies_of_answer);
}

}  // namespace residua
