#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "residua/basis/tree_matrix.h"
#include "residua/model/answer_weights.h"
#include "tests/basis/named_attribute.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {

// A hierarchy of groups with these numbers of cells each; cells beyond them are in no group.
inline Attribute TwoLevels(const std::vector<int64_t>& sizes, int64_t num_alone = 0) {
  Attribute attribute = Named(0, QueryKind::kHierarchy);
  for (const int64_t size : sizes) {
    CellGroup group{"g" + std::to_string(attribute.groups.size()), {}};
    for (int64_t k = 0; k < size; ++k) group.cells.push_back(attribute.size++);
    attribute.groups.push_back(std::move(group));
  }
  attribute.size += num_alone;
  return attribute;
}

// The same queries, given as a matrix.
inline Attribute AsCustom(const Attribute& attribute) {
  Attribute custom = Named(attribute.size, QueryKind::kCustom);
  const Eigen::MatrixXd queries = oracle::DenseQueries(attribute);
  custom.custom.num_rows = queries.rows();
  for (int64_t q = 0; q < queries.rows(); ++q) {
    for (int64_t k = 0; k < queries.cols(); ++k) custom.custom.entries.push_back(queries(q, k));
  }
  return custom;
}

// A random tree of groups over shuffled cells: of one child, of one cell, equal to each other, and
// cells in no group among them.
template <typename Random>
Attribute RandomTree(int64_t size, Random& random) {
  Attribute attribute = Named(size, QueryKind::kHierarchy);
  std::vector<std::vector<int64_t>> parts;
  std::vector<int64_t> cells(static_cast<size_t>(size));
  std::iota(cells.begin(), cells.end(), 0);
  std::shuffle(cells.begin(), cells.end(), random);
  for (const int64_t cell : cells) parts.push_back({cell});
  while (parts.size() > 2) {
    const size_t count = 1 + random() % std::min<size_t>(4, parts.size() - 1);
    CellGroup group{"g" + std::to_string(attribute.groups.size()), {}};
    for (size_t k = 0; k < count; ++k) {
      const size_t place = random() % parts.size();
      group.cells.insert(group.cells.end(), parts[place].begin(), parts[place].end());
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place));
    }
    std::sort(group.cells.begin(), group.cells.end());
    parts.push_back(group.cells);
    attribute.groups.push_back(std::move(group));
    if (count == 1 && random() % 3 == 0) parts.pop_back();
  }
  return attribute;
}

// Deep and irregular: cells first fall apart into very uneven parts, and each of these again, in up
// to `depth` levels. Groups hold one cell, one group or all cells, and the last cell is in none.
template <typename Random>
Attribute DeepTree(int64_t size, int depth, Random& random) {
  Attribute attribute = Named(size, QueryKind::kHierarchy);
  const auto add = [&](int64_t begin, int64_t end) {
    CellGroup group{"g" + std::to_string(attribute.groups.size()), {}};
    for (int64_t cell = begin; cell < end; ++cell) group.cells.push_back(cell);
    attribute.groups.push_back(std::move(group));
  };
  const auto split = [&](const auto& self, int64_t begin, int64_t end, int levels) -> void {
    add(begin, end);
    if (levels == 0 || end - begin < 2) return;
    const auto most = static_cast<uint64_t>(std::min<int64_t>(end - begin, 12));
    const auto count = static_cast<int64_t>(1 + random() % most);
    for (int64_t part = 0; part < count && begin < end; ++part) {
      // A part of what is left, more often a small one.
      const int64_t left = end - begin;
      const auto share = static_cast<int64_t>(random() % 64);
      const int64_t own =
          part + 1 == count ? left : std::max<int64_t>(1, left * share * share / 4096);
      self(self, begin, begin + own, random() % 5 == 0 ? 0 : levels - 1);
      begin += own;
    }
  };
  split(split, 0, size - 1, depth);
  return attribute;
}

// Weights of its levels over so many orders of magnitude.
template <typename Random>
void WeighLevels(double decades, Random& random, Attribute* attribute) {
  attribute->level_weights.clear();
  for (size_t level = 0; level < AnswersOfLevels(*attribute).size(); ++level) {
    const double place = static_cast<double>(random() % 1000) / 1000 - 0.5;
    attribute->level_weights.push_back(std::pow(10, decades * place));
  }
}

// Small random numbers at every node, of each kind.
template <typename Random>
TreeMatrix RandomTreeMatrix(CellTree tree, Random& random) {
  TreeMatrix matrix{std::make_shared<const CellTree>(std::move(tree)), {}};
  const auto draw = [&](int64_t most) {
    return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  for (int64_t node = 0; node < matrix.tree->num_nodes(); ++node) {
    const int64_t count = matrix.tree->num_children(node);
    NodeRows rows;
    switch (random() % 3) {
      case 0:
        rows.factors = {draw(9)};
        break;
      case 1:
        for (int64_t c = 0; c < count; ++c) rows.factors.push_back(draw(9));
        for (int64_t c = 0; c < count; ++c) rows.shares.push_back(draw(7));
        break;
      default:
        for (int64_t row = 0; row + 1 < count; ++row) {
          for (int64_t c = 0; c < count; ++c) {
            rows.dense.push_back(row == c ? 20 + draw(9) : draw(7) - 4);
          }
        }
    }
    matrix.nodes.push_back(std::move(rows));
  }
  return matrix;
}

}  // namespace residua
