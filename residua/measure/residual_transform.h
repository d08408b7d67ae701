#pragma once

#include <cstdint>
#include <span>

#include "residua/basis/residual_matrix.h"
#include "residua/measure/true_marginal.h"
#include "residua/model/domain.h"

namespace residua {

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

// Error{kTooLarge} if the residuals of that many records may not fit.
void CheckResidualsFit(const Domain& domain, std::span<const ResidualMatrix> matrices,
                       const AttributeSet& attributes, int64_t num_records);

}  // namespace residua
