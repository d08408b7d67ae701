#include "residua/basis/tree/tree_inverse.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "residua/base/error.h"
#include "residua/basis/dense_products.h"
#include "residua/basis/triangular_factors.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// A dense node's inverse is right to this, or the basis is refused; sound ones come to about 1e-12.
constexpr double kNodeReproduced = 1e-6;

// [z | P] of [1^T; rows].
std::pair<VectorXd, MatrixXd> InverseOfDenseNode(const Attribute& attribute, const NodeRows& rows,
                                                 Index k) {
  // Rows of like size keep the inverse accurate; the scale of 1^T is undone afterwards.
  const MatrixXd integers =
      Eigen::Map<const Eigen::Matrix<int64_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
          rows.dense.data(), k - 1, k)
          .cast<double>();
  const double scale = std::sqrt(std::max(1.0, integers.colwise().squaredNorm().maxCoeff()));
  MatrixXd stacked(k, k);
  stacked.row(0).setConstant(scale);
  stacked.bottomRows(k - 1) = integers;
  const MatrixXd inverse = InverseOf(stacked);
  const MatrixXd error = Product(stacked, inverse) - MatrixXd::Identity(k, k);
  if (!error.allFinite() || !(error.cwiseAbs().maxCoeff() <= kNodeReproduced)) {
    Fail(ErrorKind::kRefused,
         "the basis of attribute '{}' is degenerate: its rows and the total do not determine the "
         "queries",
         attribute.name);
  }
  return {inverse.col(0) * scale, inverse.rightCols(k - 1)};
}

}  // namespace

TreeInverse::TreeInverse(const Attribute& attribute, const TreeMatrix& matrix)
    : tree_(matrix.tree), row_begin_({0}) {
  for (int64_t k = 0; k < tree_->num_nodes(); ++k) {
    const NodeRows& rows = matrix.nodes[static_cast<size_t>(k)];
    const int64_t count = tree_->num_children(k);
    Node node;
    if (!rows.dense.empty()) {
      std::tie(node.share, node.residual) = InverseOfDenseNode(attribute, rows, count);
    } else {
      const auto sum = static_cast<double>(ShareSum(rows, count));
      node.share.resize(count);
      node.root.resize(count);
      for (int64_t c = 0; c < count; ++c) {
        node.share(c) = static_cast<double>(ShareOf(rows, c)) / sum;
        node.root(c) = 1 / (static_cast<double>(FactorOf(rows, c)) * sum);
      }
      node.squared_norm = node.root.squaredNorm();
    }
    nodes_.push_back(std::move(node));
    row_begin_.push_back(row_begin_.back() + NumRowsOf(rows, count));
  }
}

VectorXd TreeInverse::Constant() const {
  VectorXd constant(num_cells());
  std::vector<double> of_node(nodes_.size(), 1);
  for (int64_t k = tree_->num_nodes() - 1; k >= 0; --k) {
    const Node& node = nodes_[static_cast<size_t>(k)];
    for (int64_t c = 0; c < tree_->num_children(k); ++c) {
      const int64_t child = tree_->children_of(k)[c];
      const double part = node.share(c) * of_node[static_cast<size_t>(k)];
      if (tree_->is_cell(child)) {
        constant(child) = part;
      } else {
        of_node[static_cast<size_t>(child - num_cells())] = part;
      }
    }
  }
  return constant;
}

VectorXd TreeInverse::RowWeights(const VectorXd& query) const {
  RESIDUA_CHECK(query.size() == num_cells());
  VectorXd weights(num_rows());
  VectorXd of_node(tree_->num_nodes());
  VectorXd of_children;
  for (int64_t k = 0; k < tree_->num_nodes(); ++k) {
    const Node& node = nodes_[static_cast<size_t>(k)];
    const int64_t count = tree_->num_children(k);
    of_children.resize(count);
    for (int64_t c = 0; c < count; ++c) {
      const int64_t child = tree_->children_of(k)[c];
      of_children(c) = tree_->is_cell(child) ? query(child) : of_node(child - num_cells());
    }
    auto rows =
        weights.segment(row_begin_[static_cast<size_t>(k)], row_begin_[static_cast<size_t>(k) + 1] -
                                                                row_begin_[static_cast<size_t>(k)]);
    if (node.root.size() > 0) {
      const double mean = node.root.cwiseAbs2().dot(of_children) / node.squared_norm;
      rows = node.root.cwiseProduct((of_children.array() - mean).matrix());
    } else {
      rows = TransposedProduct(node.residual, of_children);
    }
    of_node(k) = node.share.dot(of_children);
  }
  return weights;
}

QueryVariance TreeInverse::VarianceOfGroup(std::span<const int64_t> cells,
                                           std::span<const QueryVariance> of_cells,
                                           std::span<const QueryVariance> of_nodes) const {
  if (cells.size() == 1) return of_cells[static_cast<size_t>(cells.front())];
  // The children of each node that hold cells of the group, and how much of their total each asks.
  // P^T 1 = 0, so that a node whose children are all asked for in full adds nothing.
  std::map<int64_t, std::vector<std::pair<int64_t, double>>> asked;
  for (const int64_t cell : cells) {
    asked[tree_->parent[static_cast<size_t>(cell)]].emplace_back(cell, 1.0);
  }
  QueryVariance variance;
  while (!asked.empty()) {
    const auto [k, parts] = std::move(*asked.begin());
    asked.erase(asked.begin());
    const Node& node = nodes_[static_cast<size_t>(k)];
    const int64_t count = tree_->num_children(k);
    const int64_t* children = tree_->children_of(k);
    double upward = 1;
    const bool is_whole =
        static_cast<int64_t>(parts.size()) == count &&
        std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part.second == 1; });
    if (is_whole && asked.empty()) return of_nodes[static_cast<size_t>(k)];
    if (!is_whole) {
      VectorXd of_children = VectorXd::Zero(count);
      // Both are in the order of their first cells, but for children that are nodes.
      std::map<int64_t, double> by_vertex(parts.begin(), parts.end());
      for (int64_t c = 0; c < count; ++c) {
        const auto place = by_vertex.find(children[c]);
        if (place != by_vertex.end()) of_children(c) = place->second;
      }
      if (node.root.size() > 0) {
        const double mean = node.root.cwiseAbs2().dot(of_children) / node.squared_norm;
        variance.residual +=
            node.root.cwiseProduct((of_children.array() - mean).matrix()).squaredNorm();
      } else {
        variance.residual += TransposedProduct(node.residual, of_children).squaredNorm();
      }
      upward = node.share.dot(of_children);
    }
    const int64_t vertex = num_cells() + k;
    const int64_t parent = tree_->parent[static_cast<size_t>(vertex)];
    if (parent < 0) {
      variance.constant = upward * upward;
      break;
    }
    asked[parent].emplace_back(vertex, upward);
  }
  return variance;
}

std::vector<QueryVariance> TreeInverse::Variances(const QueryMatrix& queries) const {
  RESIDUA_CHECK(queries.num_cells() == num_cells());
  std::vector<QueryVariance> variances;
  variances.reserve(static_cast<size_t>(queries.num_answers()));
  const bool has_cells =
      queries.kind() == QueryKind::kIdentity || queries.kind() == QueryKind::kHierarchy;
  if (!has_cells) {
    const VectorXd constant = queries.Apply(Constant()).cwiseAbs2();
    for (int64_t q = 0; q < queries.num_answers(); ++q) {
      variances.push_back({RowWeights(queries.Row(q)).squaredNorm(), constant(q)});
    }
    return variances;
  }
  // Var(t_c) = z_c^2 Var(T) + (P P^T)_cc, from the root down.
  variances.resize(static_cast<size_t>(num_cells()));
  std::vector<QueryVariance> of_node(nodes_.size(), {0, 1});
  for (int64_t k = tree_->num_nodes() - 1; k >= 0; --k) {
    const Node& node = nodes_[static_cast<size_t>(k)];
    const QueryVariance& above = of_node[static_cast<size_t>(k)];
    for (int64_t c = 0; c < tree_->num_children(k); ++c) {
      const double share = node.share(c) * node.share(c);
      double own = 0;
      if (node.root.size() > 0) {
        const double squared = node.root(c) * node.root(c);
        own = squared * (1 - squared / node.squared_norm);
      } else {
        own = node.residual.row(c).squaredNorm();
      }
      const int64_t child = tree_->children_of(k)[c];
      QueryVariance& below = tree_->is_cell(child)
                                 ? variances[static_cast<size_t>(child)]
                                 : of_node[static_cast<size_t>(child - num_cells())];
      below = {share * above.residual + own, share * above.constant};
    }
  }
  if (queries.kind() == QueryKind::kIdentity) return variances;
  for (const std::vector<int64_t>& group : queries.groups()) {
    variances.push_back(VarianceOfGroup(
        group, std::span(variances).first(static_cast<size_t>(num_cells())), of_node));
  }
  return variances;
}

void TreeInverse::Apply(int64_t outer, int64_t inner, const double* rows, const double* constant,
                        double* result) const {
  std::vector<double> totals(nodes_.size() * static_cast<size_t>(inner));
  std::vector<double> sums(static_cast<size_t>(inner));
  RowMajorMatrix of_children;
  for (int64_t o = 0; o < outer; ++o) {
    double* cells = result + o * num_cells() * inner;
    const auto values_of = [&](int64_t vertex) {
      return tree_->is_cell(vertex) ? cells + vertex * inner
                                    : totals.data() + (vertex - num_cells()) * inner;
    };
    std::copy_n(constant + o * inner, inner, totals.data() + (tree_->num_nodes() - 1) * inner);
    for (int64_t k = tree_->num_nodes() - 1; k >= 0; --k) {
      const Node& node = nodes_[static_cast<size_t>(k)];
      const int64_t count = tree_->num_children(k);
      const int64_t* children = tree_->children_of(k);
      const double* total = totals.data() + k * inner;
      const double* measured = rows + (o * num_rows() + row_begin_[static_cast<size_t>(k)]) * inner;
      if (node.root.size() == 0) {
        of_children.resize(count, inner);
        MultiplyFromLeft(node.residual, RowMajorValues(measured, count - 1, inner),
                         RowMajorOutput(of_children.data(), count, inner));
        for (int64_t c = 0; c < count; ++c) {
          double* out = values_of(children[c]);
          for (int64_t i = 0; i < inner; ++i) {
            out[i] = node.share(c) * total[i] + of_children(c, i);
          }
        }
        continue;
      }
      std::fill(sums.begin(), sums.end(), 0.0);
      for (int64_t c = 0; c < count; ++c) {
        const double factor = node.root(c) / node.squared_norm;
        for (int64_t i = 0; i < inner; ++i) {
          sums[static_cast<size_t>(i)] += factor * measured[c * inner + i];
        }
      }
      for (int64_t c = 0; c < count; ++c) {
        double* out = values_of(children[c]);
        const double share = node.share(c);
        const double root = node.root(c);
        for (int64_t i = 0; i < inner; ++i) {
          out[i] = share * total[i] +
                   root * (measured[c * inner + i] - root * sums[static_cast<size_t>(i)]);
        }
      }
    }
  }
}

void TreeInverse::ApplyProduct(int64_t outer, int64_t inner, double* values) const {
  std::vector<double> totals(nodes_.size() * static_cast<size_t>(inner));
  RowMajorMatrix of_children;
  for (int64_t o = 0; o < outer; ++o) {
    double* cells = values + o * num_cells() * inner;
    const auto values_of = [&](int64_t vertex) {
      return tree_->is_cell(vertex) ? cells + vertex * inner
                                    : totals.data() + (vertex - num_cells()) * inner;
    };
    const auto row_of = [&](int64_t vertex) {
      return Eigen::Map<Eigen::RowVectorXd>(values_of(vertex), inner);
    };
    // Upwards: what is asked of each total, in place of the cells. Downwards: the covariance.
    for (int64_t k = 0; k < tree_->num_nodes(); ++k) {
      const Node& node = nodes_[static_cast<size_t>(k)];
      auto total = row_of(num_cells() + k);
      total.setZero();
      for (int64_t c = 0; c < tree_->num_children(k); ++c) {
        total += node.share(c) * row_of(tree_->children_of(k)[c]);
      }
    }
    row_of(num_cells() + tree_->num_nodes() - 1).setZero();
    for (int64_t k = tree_->num_nodes() - 1; k >= 0; --k) {
      const Node& node = nodes_[static_cast<size_t>(k)];
      const int64_t count = tree_->num_children(k);
      of_children.resize(count, inner);
      for (int64_t c = 0; c < count; ++c) {
        of_children.row(c) = row_of(tree_->children_of(k)[c]);
      }
      if (node.root.size() > 0) {
        const VectorXd squared = node.root.cwiseAbs2();
        Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(inner);
        for (int64_t c = 0; c < count; ++c) {
          mean += squared(c) / node.squared_norm * of_children.row(c);
        }
        of_children.rowwise() -= mean;
        of_children = squared.asDiagonal() * of_children;
      } else {
        const MatrixXd asked = of_children;
        of_children = Product(node.residual, TransposedProduct(node.residual, asked));
      }
      const Eigen::RowVectorXd total = row_of(num_cells() + k);
      for (int64_t c = 0; c < count; ++c) {
        row_of(tree_->children_of(k)[c]) = of_children.row(c) + node.share(c) * total;
      }
    }
  }
}

}  // namespace residua
