#pragma once

#include <cstdint>
#include <variant>
#include <vector>

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

// What is applied along an attribute's axis of the counts before noise is added: the integer form
// of its residual basis.
using ResidualMatrix = std::variant<SubtractionMatrix, IntegerMatrix>;

}  // namespace residua
