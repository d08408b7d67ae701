#include "residua/basis/integer_basis.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/orthogonal_factors.h"
#include "residua/basis/tree_matrix.h"
#include "residua/basis/triangular_factors.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Rounds a column to integers of squared norm at most `bound` (that of the real column at most),
// changing first the entries whose rounding was the closest call.
void RoundColumn(double bound, Eigen::Ref<VectorXd> column) {
  const VectorXd real = column;
  column = real.array().round();
  std::vector<Index> order;
  for (Index k = 0; k < real.size(); ++k) {
    if (real(k) != 0) order.push_back(k);
  }
  const auto closeness = [&](Index k) { return std::fabs(real(k) - column(k)); };
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return closeness(a) > closeness(b); });
  double norm = column.squaredNorm();  // of integers, exactly
  for (const Index k : order) {
    if (norm <= bound) return;
    const double other = real(k) > column(k) ? column(k) + 1 : column(k) - 1;
    if (std::fabs(other) >= std::fabs(column(k))) continue;
    norm += (other - column(k)) * (other + column(k));
    column(k) = other;
  }
}

// A node's shares come to at least this many for each child, and together to the scale: rounding
// them moves a column's norm by no more than rounding the factors does.
constexpr double kSharesPerChild = 64;

int64_t NearestPositive(double value) { return std::max<int64_t>(1, std::llround(value)); }

// The least b with 2^b at least `value`.
int BitsOf(double value) { return static_cast<int>(std::ceil(std::log2(value))); }

}  // namespace

MatrixXd FactorBasis(const MatrixXd& gram, const VectorXd& constant) {
  // The first of those that are the largest but for rounding: mirrored queries have two.
  const double nearly_largest = constant.cwiseAbs().maxCoeff() * (1 - 1e-9);
  Index last = 0;
  while (!(std::fabs(constant(last)) >= nearly_largest)) ++last;
  const Index n = gram.rows();
  std::vector<Index> kept;
  for (Index k = 0; k < n; ++k) {
    if (k != last) kept.push_back(k);
  }
  const MatrixXd leading = gram(kept, kept);
  const MatrixXd lower = CholeskyFactorOf(leading);
  const MatrixXd upper = lower.transpose();
  MatrixXd factor(n - 1, n);
  for (Index k = 0; k < n - 1; ++k) factor.col(kept[static_cast<size_t>(k)]) = upper.col(k);
  factor.col(last) = SolveLower(lower, gram(kept, last));
  return factor;
}

IntegerMatrix RoundBasis(const QuerySpace& space, const MatrixXd& real_factor, double scale) {
  MatrixXd factor = scale * real_factor;
  if (space.is_full()) {
    const double bound = factor.colwise().squaredNorm().maxCoeff();
    for (Index k = 0; k < factor.cols(); ++k) RoundColumn(bound, factor.col(k));
  } else {
    factor = factor.array().round();
  }
  const auto num_cells = static_cast<Index>(space.columns.num_columns);
  IntegerMatrix matrix{factor.rows(), num_cells, {}};
  matrix.entries.resize(static_cast<size_t>(factor.rows() * num_cells), 0);
  for (Index row = 0; row < factor.rows(); ++row) {
    for (Index k = 0; k < factor.cols(); ++k) {
      const auto entry = static_cast<int64_t>(factor(row, k));
      if (space.is_full()) {
        matrix.entries[static_cast<size_t>(row * num_cells + k)] = entry;
        continue;
      }
      for (Index cell = 0; cell < num_cells; ++cell) {
        int64_t& sum = matrix.entries[static_cast<size_t>(row * num_cells + cell)];
        sum = CheckedAdd(
            sum, CheckedMultiply(entry,
                                 space.columns.entries[static_cast<size_t>(k * num_cells + cell)]));
      }
    }
  }
  return matrix;
}

TreeMatrix RoundBlocks(const QuerySpace& space, std::shared_ptr<const CellTree> tree,
                       const MatrixXd& factor, const VectorXd& left_over, int scale_bits) {
  const VectorXd& sizes = space.cells_of_block;
  const double scale = std::ldexp(1, scale_bits + BitsOf(sizes.maxCoeff()));
  MatrixXd dense = scale * factor * sizes.cwiseSqrt().cwiseInverse().asDiagonal();
  const VectorXd parts =
      scale * scale * (left_over.array() * (sizes.array() - 1) / sizes.array()).matrix();
  const double bound = (dense.colwise().squaredNorm().transpose() + parts).maxCoeff();
  TreeMatrix matrix{std::move(tree), {}};
  matrix.nodes.resize(static_cast<size_t>(matrix.tree->num_nodes()));
  const int64_t root = matrix.tree->num_nodes() - 1;
  for (Index g = 0; g < sizes.size(); ++g) {
    double spent = 0;
    const int64_t child = matrix.tree->children_of(root)[g];
    if (!matrix.tree->is_cell(child)) {
      const int64_t whole = NearestPositive(scale * std::sqrt(left_over(g)) / sizes(g));
      matrix.nodes[static_cast<size_t>(child - matrix.tree->num_cells)].factors = {whole};
      spent = std::pow(static_cast<double>(whole), 2) * sizes(g) * (sizes(g) - 1);
    }
    const double norm = dense.col(g).squaredNorm();
    if (bound > spent && norm > 0) dense.col(g) *= std::sqrt((bound - spent) / norm);
    RoundColumn(std::max(bound - spent, 0.0), dense.col(g));
  }
  std::vector<int64_t>& rows = matrix.nodes[static_cast<size_t>(root)].dense;
  rows.reserve(static_cast<size_t>(dense.size()));
  for (Index row = 0; row < dense.rows(); ++row) {
    for (Index g = 0; g < dense.cols(); ++g) rows.push_back(static_cast<int64_t>(dense(row, g)));
  }
  return matrix;
}

namespace {

// Rows of shares for the first `num_sharing` nodes. Returns their scale.
double RoundShares(int64_t num_sharing, const VectorXd& precisions, const VectorXd& shares,
                   int scale_bits, TreeMatrix* matrix) {
  const CellTree& t = *matrix->tree;
  int64_t largest = 1;
  for (int64_t node = 0; node < num_sharing; ++node) {
    const int64_t count = t.num_children(node);
    const int64_t* children = t.children_of(node);
    NodeRows rows;
    const bool is_even = std::all_of(children, children + count, [&](int64_t child) {
      return precisions(child) == precisions(children[0]) && shares(child) == shares(children[0]);
    });
    const double num_shares =
        std::max(static_cast<double>(count) * kSharesPerChild, std::ldexp(1, scale_bits));
    for (int64_t c = 0; c < count && !is_even; ++c) {
      rows.shares.push_back(NearestPositive(shares(children[c]) * num_shares));
    }
    largest = std::max(largest, ShareSum(rows, count));
    matrix->nodes.push_back(std::move(rows));
  }
  const double scale = std::ldexp(1, scale_bits + BitsOf(static_cast<double>(largest)));
  for (int64_t node = 0; node < num_sharing; ++node) {
    NodeRows& rows = matrix->nodes[static_cast<size_t>(node)];
    const int64_t count = t.num_children(node);
    const auto sum = static_cast<double>(ShareSum(rows, count));
    for (int64_t c = 0; c < (rows.shares.empty() ? 1 : count); ++c) {
      const double exact = scale * std::sqrt(precisions(t.children_of(node)[c])) / sum;
      rows.factors.push_back(NearestPositive(exact));
    }
  }
  return scale;
}

// Of each vertex below the root: the most that the nodes below it cost one of its cells, with
// `precision` and `share` of every child.
VectorXd MostBelow(const CellTree& tree, const VectorXd& precision, const VectorXd& share) {
  VectorXd most = VectorXd::Zero(tree.num_cells + tree.num_nodes());
  for (int64_t node = 0; node + 1 < tree.num_nodes(); ++node) {
    double common = 0;
    for (int64_t c = 0; c < tree.num_children(node); ++c) {
      const int64_t child = tree.children_of(node)[c];
      common += share(child) * share(child) * precision(child);
    }
    for (int64_t c = 0; c < tree.num_children(node); ++c) {
      const int64_t child = tree.children_of(node)[c];
      double& of_node = most(tree.num_cells + node);
      of_node = std::max(of_node, most(child) + (1 - 2 * share(child)) * precision(child) + common);
    }
  }
  return most;
}

}  // namespace

TreeMatrix RoundTree(std::shared_ptr<const CellTree> tree, const VectorXd& precisions,
                     const VectorXd& shares, int scale_bits) {
  TreeMatrix matrix{std::move(tree), {}};
  RoundShares(matrix.tree->num_nodes(), precisions, shares, scale_bits, &matrix);
  return matrix;
}

TreeMatrix RoundCut(std::shared_ptr<const CellTree> tree, const MatrixXd& factor,
                    const VectorXd& precisions, const VectorXd& shares, int scale_bits) {
  TreeMatrix matrix{std::move(tree), {}};
  const CellTree& t = *matrix.tree;
  const int64_t root = t.num_nodes() - 1;
  const double scale = RoundShares(root, precisions, shares, scale_bits, &matrix);
  VectorXd rounded_precision = VectorXd::Zero(precisions.size());
  VectorXd rounded_share = VectorXd::Zero(shares.size());
  for (int64_t node = 0; node < root; ++node) {
    const NodeRows& rows = matrix.nodes[static_cast<size_t>(node)];
    const auto sum = static_cast<double>(ShareSum(rows, t.num_children(node)));
    for (int64_t c = 0; c < t.num_children(node); ++c) {
      const int64_t child = t.children_of(node)[c];
      const double precision = static_cast<double>(FactorOf(rows, c)) * sum / scale;
      rounded_precision(child) = precision * precision;
      rounded_share(child) = static_cast<double>(ShareOf(rows, c)) / sum;
    }
  }
  const VectorXd below = MostBelow(t, precisions, shares);
  const VectorXd spent = MostBelow(t, rounded_precision, rounded_share);
  MatrixXd dense = scale * factor;
  for (Index c = 0; c < dense.cols(); ++c) {
    const int64_t child = t.children_of(root)[c];
    const double norm = dense.col(c).squaredNorm();
    const double bound = norm + scale * scale * (below(child) - spent(child));
    if (bound > 0 && norm > 0) dense.col(c) *= std::sqrt(bound / norm);
    RoundColumn(std::max(bound, 0.0), dense.col(c));
  }
  std::vector<int64_t>& rows = matrix.nodes.emplace_back().dense;
  rows.reserve(static_cast<size_t>(dense.size()));
  for (Index row = 0; row < dense.rows(); ++row) {
    for (Index c = 0; c < dense.cols(); ++c) rows.push_back(static_cast<int64_t>(dense(row, c)));
  }
  return matrix;
}

SplitStrategy SplitUserStrategy(const QuerySpace& space, const Attribute& attribute) {
  const Eigen::Map<const RowMajorMatrix> strategy(attribute.strategy.entries.data(),
                                                  attribute.strategy.num_rows, attribute.size);
  MatrixXd rows = strategy;
  if (!space.is_full()) {
    const LeastSquares solver(space.dense_columns.transpose());
    rows = solver.Solve(MatrixXd(strategy.transpose())).transpose();
  }
  const MatrixXd x = TransposedProduct(rows, rows);
  const VectorXd solved = SolveSymmetric(x, space.ones);
  RESIDUA_CHECK(solved.allFinite());
  const double c = 1 / space.ones.dot(solved);
  MatrixXd gram = x - Outer(c * space.ones, space.ones);
  // Of any size; scaled so that a cell's privacy cost is at most 1, as for optimised strategies.
  const VectorXd costs = space.is_full() ? VectorXd(gram.diagonal())
                                         : VectorXd(Product(gram, space.dense_columns)
                                                        .cwiseProduct(space.dense_columns)
                                                        .colwise()
                                                        .sum());
  return {gram / costs.maxCoeff(), c * solved};
}

}  // namespace residua
