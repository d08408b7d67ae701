#include "residua/select/tree_sensitivity.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "residua/base/error.h"
#include "residua/basis/tree_matrix.h"

namespace residua {

Integer RecomputedSensitivity(const TreeMatrix& matrix) {
  const CellTree& tree = *matrix.tree;
  std::vector<Integer> below(static_cast<size_t>(tree.num_nodes()), 0);  // the most a cell has
  for (int64_t node = 0; node < tree.num_nodes(); ++node) {
    const NodeRows& rows = matrix.nodes[static_cast<size_t>(node)];
    const auto count = static_cast<size_t>(tree.num_children(node));
    std::vector<Integer> factors;
    for (const int64_t factor : rows.factors) factors.push_back(ToInteger(factor));
    if (factors.size() == 1) factors.resize(count, factors.front());
    std::vector<Integer> shares;
    for (const int64_t share : rows.shares) shares.push_back(ToInteger(share));
    if (shares.empty()) shares.resize(count, 1);
    const Integer sum = std::accumulate(shares.begin(), shares.end(), Integer(0));
    Integer common = 0;
    for (size_t c = 0; c < factors.size(); ++c) {
      common += factors[c] * factors[c] * shares[c] * shares[c];
    }
    Integer& most = below[static_cast<size_t>(node)];
    for (size_t c = 0; c < count; ++c) {
      Integer norm = 0;
      for (size_t row = 0; !rows.dense.empty() && row + 1 < count; ++row) {
        const Integer entry = ToInteger(rows.dense[row * count + c]);
        norm += entry * entry;
      }
      if (rows.dense.empty()) {
        norm = factors[c] * factors[c] * sum * (sum - 2 * shares[c]) + common;
      }
      const int64_t child = tree.children_of(node)[c];
      if (!tree.is_cell(child)) norm += below[static_cast<size_t>(child - tree.num_cells)];
      most = std::max(most, norm);
    }
  }
  return below.back();
}

void VerifyTree(const Attribute& attribute, const TreeMatrix& matrix) {
  std::optional<CellTree> tree;
  if (attribute.queries == QueryKind::kHierarchy && matrix.tree != nullptr) {
    tree = TreeOfKind(attribute, matrix.tree->kind,
                      matrix.tree->num_children(matrix.tree->num_nodes() - 1));
  }
  if (!tree || *tree != *matrix.tree) {
    Fail(ErrorKind::kRefused, "the basis of attribute '{}' does not follow its groups",
         attribute.name);
  }
  CheckTreeMatrix(attribute, matrix);
}

}  // namespace residua
