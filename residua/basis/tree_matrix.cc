#include "residua/basis/tree_matrix.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "residua/base/checked.h"
#include "residua/base/error.h"

namespace residua {
namespace {

// Entries of a node's rows stay below this, so that no product of two of its numbers wraps.
constexpr int64_t kMostEntry = int64_t{1} << 62;

// Of each column of a node's rows, exactly.
std::vector<Integer> ColumnNorms(const NodeRows& rows, int64_t num_children) {
  std::vector<Integer> norms(static_cast<size_t>(num_children), 0);
  if (!rows.dense.empty()) {
    for (size_t k = 0; k < rows.dense.size(); ++k) {
      const Integer entry = ToInteger(rows.dense[k]);
      norms[k % norms.size()] += entry * entry;
    }
    return norms;
  }
  // Column c has factor_c (N - share_c) in its own row and -factor_d share_d in each other one.
  const Integer sum = ToInteger(ShareSum(rows, num_children));
  if (rows.factors.size() == 1 && rows.shares.empty()) {
    const Integer factor = ToInteger(rows.factors.front());
    std::fill(norms.begin(), norms.end(), Integer(factor * factor * sum * (sum - 1)));
    return norms;
  }
  Integer all = 0;
  for (int64_t c = 0; c < num_children; ++c) {
    const Integer away = ToInteger(FactorOf(rows, c)) * ToInteger(ShareOf(rows, c));
    all += away * away;
  }
  for (int64_t c = 0; c < num_children; ++c) {
    const Integer factor = ToInteger(FactorOf(rows, c));
    const Integer away = factor * ToInteger(ShareOf(rows, c));
    const Integer own = factor * sum - away;
    norms[static_cast<size_t>(c)] = all - away * away + own * own;
  }
  return norms;
}

// Products of entries below this, of up to 2^20 rows, are summed in 128 bits.
constexpr int64_t kMostSummed = int64_t{1} << 53;

// The least inner product of two different columns of k - 1 dense rows.
Integer LeastDenseProduct(const std::vector<int64_t>& dense, size_t k) {
  std::vector<int64_t> columns(dense.size());
  bool is_small = k <= size_t{1} << 20;
  for (size_t at = 0; at < dense.size(); ++at) {
    columns[at % k * (k - 1) + at / k] = dense[at];
    is_small = is_small && dense[at] < kMostSummed && dense[at] > -kMostSummed;
  }
  std::optional<Integer> least;
  std::optional<Int128> least_small;
  for (size_t a = 0; a < k; ++a) {
    for (size_t b = 0; b < a; ++b) {
      const int64_t* left = columns.data() + a * (k - 1);
      const int64_t* right = columns.data() + b * (k - 1);
      if (is_small) {
        Int128 sum = 0;
        for (size_t row = 0; row + 1 < k; ++row) sum += Int128{left[row]} * right[row];
        if (!least_small || sum < *least_small) least_small = sum;
        continue;
      }
      Integer sum = 0;
      for (size_t row = 0; row + 1 < k; ++row) {
        sum += ToInteger(left[row]) * ToInteger(right[row]);
      }
      if (!least || sum < *least) least = sum;
    }
  }
  if (!is_small) return *least;
  const bool negative = *least_small < 0;
  const auto magnitude = static_cast<UInt128>(negative ? -*least_small : *least_small);
  return negative ? Integer(-WideToInteger(magnitude)) : WideToInteger(magnitude);
}

// The least inner product of two different columns of a node's rows.
Integer LeastProduct(const NodeRows& rows, int64_t num_children) {
  if (!rows.dense.empty()) return LeastDenseProduct(rows.dense, static_cast<size_t>(num_children));
  // sum_d factor_d^2 share_d^2 - N (factor_a^2 share_a + factor_b^2 share_b).
  Integer all = 0;
  std::vector<Integer> pulls;
  for (int64_t c = 0; c < num_children; ++c) {
    const Integer factor = ToInteger(FactorOf(rows, c));
    const Integer share = ToInteger(ShareOf(rows, c));
    pulls.push_back(factor * factor * share);
    all += pulls.back() * share;
  }
  std::partial_sort(pulls.begin(), pulls.begin() + 2, pulls.end(), std::greater<>());
  return all - ToInteger(ShareSum(rows, num_children)) * (pulls[0] + pulls[1]);
}

// From the root down: the squared norm of a vertex's column in all nodes above it.
template <typename Visit>
void ForEachNodeFromTop(const TreeMatrix& matrix, const Visit& visit) {
  const CellTree& tree = *matrix.tree;
  std::vector<Integer> above(static_cast<size_t>(tree.num_nodes()), 0);
  for (int64_t node = tree.num_nodes() - 1; node >= 0; --node) {
    const NodeRows& rows = matrix.nodes[static_cast<size_t>(node)];
    const int64_t count = tree.num_children(node);
    const std::vector<Integer> norms = ColumnNorms(rows, count);
    const Integer& over = above[static_cast<size_t>(node)];
    visit(rows, count, norms, over);
    for (int64_t c = 0; c < count; ++c) {
      const int64_t child = tree.children_of(node)[c];
      if (tree.is_cell(child)) continue;
      above[static_cast<size_t>(child - tree.num_cells)] = over + norms[static_cast<size_t>(c)];
    }
  }
}

}  // namespace

int64_t ShareSum(const NodeRows& rows, int64_t num_children) {
  if (rows.shares.empty()) return num_children;
  return std::accumulate(rows.shares.begin(), rows.shares.end(), int64_t{0});
}

int64_t NumRowsOf(const NodeRows& rows, int64_t num_children) {
  return rows.dense.empty() ? num_children : num_children - 1;
}

int64_t NumRowsOf(const ResidualMatrix& matrix, int64_t size) {
  if (const auto* integers = std::get_if<IntegerMatrix>(&matrix)) return integers->num_rows;
  if (const auto* tree = std::get_if<TreeMatrix>(&matrix)) {
    int64_t num_rows = 0;
    for (int64_t node = 0; node < tree->tree->num_nodes(); ++node) {
      num_rows += NumRowsOf(tree->nodes[static_cast<size_t>(node)], tree->tree->num_children(node));
    }
    return num_rows;
  }
  return std::holds_alternative<ConvolutionMatrix>(matrix) ? size - 1 : size;
}

void CheckTreeMatrix(const Attribute& attribute, const TreeMatrix& matrix) {
  const auto refuse = [&](std::string_view problem) {
    Fail(ErrorKind::kRefused, "the basis of attribute '{}' does not fit its groups: {}",
         attribute.name, problem);
  };
  const CellTree& tree = *matrix.tree;
  if (tree.num_cells != attribute.size ||
      static_cast<int64_t>(matrix.nodes.size()) != tree.num_nodes()) {
    refuse("it has another number of nodes");
  }
  for (int64_t node = 0; node < tree.num_nodes(); ++node) {
    const NodeRows& rows = matrix.nodes[static_cast<size_t>(node)];
    const auto k = static_cast<size_t>(tree.num_children(node));
    if (!rows.dense.empty()) {
      if (rows.dense.size() != k * (k - 1) || !rows.factors.empty() || !rows.shares.empty()) {
        refuse("a node has another number of rows");
      }
      continue;
    }
    if ((rows.factors.size() != 1 && rows.factors.size() != k) ||
        (!rows.shares.empty() && rows.shares.size() != k)) {
      refuse("a node has another number of factors or shares");
    }
    int64_t sum = 0;
    for (size_t c = 0; c < k; ++c) {
      const int64_t share = ShareOf(rows, static_cast<int64_t>(c));
      if (share < 1 || share > kMostEntry - sum) refuse("a share is not positive, or too large");
      sum += share;
    }
    for (const int64_t factor : rows.factors) {
      if (factor < 1 || factor > kMostEntry / sum) refuse("a factor is not positive, or too large");
    }
  }
}

uint64_t LargestEntryOf(const TreeMatrix& matrix) {
  uint64_t largest = 1;
  for (int64_t node = 0; node < matrix.tree->num_nodes(); ++node) {
    const NodeRows& rows = matrix.nodes[static_cast<size_t>(node)];
    for (const int64_t entry : rows.dense) {
      const auto bits = static_cast<uint64_t>(entry);
      largest = std::max(largest, entry < 0 ? 0 - bits : bits);
    }
    if (!rows.dense.empty()) continue;
    const int64_t count = matrix.tree->num_children(node);
    const int64_t sum = ShareSum(rows, count);
    for (int64_t c = 0; c < count; ++c) {
      const int64_t share = ShareOf(rows, c);
      largest = std::max(largest,
                         static_cast<uint64_t>(FactorOf(rows, c) * std::max(share, sum - share)));
    }
  }
  return largest;
}

Integer SquaredSensitivity(const TreeMatrix& matrix) {
  Integer largest = 0;
  ForEachNodeFromTop(matrix, [&](const NodeRows&, int64_t, const std::vector<Integer>& norms,
                                 const Integer& over) {
    // Vertices that are nodes have more below them.
    largest = std::max(largest, Integer(over + *std::max_element(norms.begin(), norms.end())));
  });
  return largest;
}

Integer LargestNegativeProduct(const TreeMatrix& matrix) {
  Integer least = 0;
  ForEachNodeFromTop(matrix, [&](const NodeRows& rows, int64_t count, const std::vector<Integer>&,
                                 const Integer& over) {
    least = std::min(least, Integer(over + LeastProduct(rows, count)));
  });
  return -least;
}

IntegerMatrix Expanded(const TreeMatrix& matrix) {
  const int64_t n = matrix.tree->num_cells;
  IntegerMatrix expanded{NumRowsOf(ResidualMatrix(matrix), n), n, {}};
  std::vector<uint64_t> identity(static_cast<size_t>(CheckedMultiply(n, n)), 0);
  for (int64_t k = 0; k < n; ++k) identity[static_cast<size_t>(k * n + k)] = 1;
  std::vector<uint64_t> entries(static_cast<size_t>(CheckedMultiply(expanded.num_rows, n)));
  ApplyTree(matrix, {1, n, n}, identity.data(), entries.data());
  expanded.entries.assign(entries.begin(), entries.end());
  return expanded;
}

}  // namespace residua
