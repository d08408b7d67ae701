#pragma once

#include <vector>

#include "residua/base/axis_view.h"
#include "residua/base/rational.h"
#include "residua/basis/residual_matrix.h"

namespace residua {

// Error{kRefused} unless each node has rows as NodeRows says, with positive factors and shares
// whose entries fit 62 bits.
void CheckTreeMatrix(const Attribute& attribute, const TreeMatrix& matrix);

// N of the node; its factor of child c; its share of child c.
int64_t ShareSum(const NodeRows& rows, int64_t num_children);
inline int64_t FactorOf(const NodeRows& rows, int64_t c) {
  return rows.factors[rows.factors.size() == 1 ? 0 : static_cast<size_t>(c)];
}
inline int64_t ShareOf(const NodeRows& rows, int64_t c) {
  return rows.shares.empty() ? 1 : rows.shares[static_cast<size_t>(c)];
}

int64_t NumRowsOf(const NodeRows& rows, int64_t num_children);

// The largest absolute entry.
uint64_t LargestEntryOf(const TreeMatrix& matrix);

// The largest squared column norm, exactly: along the path from the root to a cell, the squared
// norms of its columns add up.
Integer SquaredSensitivity(const TreeMatrix& matrix);

// How far the inner product of two different columns is below zero at most, exactly; 0 if none is.
// Of two cells it is the squared norms above the node where their paths part, and there the inner
// product of two of the node's columns.
Integer LargestNegativeProduct(const TreeMatrix& matrix);

// All entries. For attributes whose square fits memory.
IntegerMatrix Expanded(const TreeMatrix& matrix);

// The matrix along an axis, from `from` to `to`, in the arithmetic of Value: modular for unsigned
// integers.
template <typename Value>
void ApplyTree(const TreeMatrix& matrix, const AxisView& axis, const Value* from, Value* to) {
  const CellTree& tree = *matrix.tree;
  const int64_t inner = axis.inner;
  std::vector<Value> totals(static_cast<size_t>(tree.num_nodes() * inner));
  for (int64_t o = 0; o < axis.outer; ++o, from += axis.size * inner) {
    const auto values_of = [&](int64_t vertex) -> const Value* {
      if (tree.is_cell(vertex)) return from + vertex * inner;
      return totals.data() + (vertex - tree.num_cells) * inner;
    };
    for (int64_t node = 0; node < tree.num_nodes(); ++node) {
      const NodeRows& rows = matrix.nodes[static_cast<size_t>(node)];
      const int64_t* children = tree.children_of(node);
      const int64_t count = tree.num_children(node);
      Value* total = totals.data() + node * inner;
      for (int64_t i = 0; i < inner; ++i) total[i] = 0;
      for (int64_t c = 0; c < count; ++c) {
        const Value* values = values_of(children[c]);
        for (int64_t i = 0; i < inner; ++i) total[i] += values[i];
      }
      if (rows.dense.empty()) {
        const auto sum = static_cast<Value>(ShareSum(rows, count));
        for (int64_t c = 0; c < count; ++c, to += inner) {
          const Value* values = values_of(children[c]);
          const auto factor = static_cast<Value>(FactorOf(rows, c));
          const auto share = static_cast<Value>(ShareOf(rows, c));
          for (int64_t i = 0; i < inner; ++i) to[i] = factor * (sum * values[i] - share * total[i]);
        }
        continue;
      }
      const int64_t* entry = rows.dense.data();
      for (int64_t row = 0; row + 1 < count; ++row, to += inner) {
        for (int64_t i = 0; i < inner; ++i) to[i] = 0;
        for (int64_t c = 0; c < count; ++c, ++entry) {
          if (*entry == 0) continue;
          const auto factor = static_cast<Value>(*entry);
          const Value* values = values_of(children[c]);
          for (int64_t i = 0; i < inner; ++i) to[i] += factor * values[i];
        }
      }
    }
  }
}

}  // namespace residua
