#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "residua/measure/true_marginal.h"
#include "residua/model/domain.h"

namespace residua {

// H = n I - 1 1^T, for an attribute of n cells: n times the deviation from the mean. n rows, of
// which n - 1 are independent. Applied in O(n).
struct SubtractionMatrix {};

// Any integer matrix with a column for each cell of an attribute: `entries` row-major, row by row
// of `num_columns`.
struct IntegerMatrix {
  int64_t num_rows = 0;
  int64_t num_columns = 0;
  std::vector<int64_t> entries;
};

using ResidualMatrix = std::variant<SubtractionMatrix, IntegerMatrix>;

// (kron_{i in A} matrices[i]) v for the marginal v on A, exactly: one sweep along each axis, O(|A|
// num_cells) for subtraction matrices. `matrices` has one for each attribute of the domain. The
// result is row-major in the rows of the matrices, the last attribute fastest.
//
// It never wraps. Let N be the number of records in v, and M_i = n_i for a subtraction matrix, the
// largest absolute entry (at least 1) of any other. Then no number on the way exceeds N prod_{i in
// A} M_i. Proof: v >= 0 sums to N. After the axes D, an entry is a sum over records of products of
// |D| matrix entries, so the absolute entries along a fibre of the next axis i sum to at most N
// prod_{D} max|entry|, each record lying on that fibre at one place only. A dot product with a row
// of matrix i, and any part of it, is at most max|entry of i| times that. For H, the fibre's sum,
// n_i times an entry, and their difference (a dot product with a row of H, of entries below n_i)
// are at most n_i times that. So where the product is below 2^63 the sweep runs in 64 bits, else in
// 128 bits if it is below 2^127, else it is Error{kTooLarge}.
TrueResidual ResidualTransform(const Domain& domain, std::span<const ResidualMatrix> matrices,
                               TrueMarginal&& marginal);

}  // namespace residua
