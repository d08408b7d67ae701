#pragma once

#include <cstdint>
#include <vector>

#include "residua/basis/residual_matrix.h"
#include "residua/model/attribute.h"

namespace residua {

// Questions about the rows of a matrix with decimal entries, taken as the decimals they print as.
// Answered by elimination modulo the prime 2^61 - 1, after scaling rows to integers. Ranks so found
// are never too large, and too small only if the prime divides a minor: for matrices that were not
// made to meet it, never.

// A largest set of independent rows, each scaled to integers without a common factor; the identity
// where the rows span everything.
IntegerMatrix RowSpaceBasis(int64_t num_columns, const CellMatrix& matrix);

// Whether the all-ones row is a combination of the matrix's rows.
bool SpansOnes(int64_t num_columns, const CellMatrix& matrix);

// Whether every row of `other` is a combination of the matrix's rows.
bool SpansRows(int64_t num_columns, const CellMatrix& matrix, const CellMatrix& other);

}  // namespace residua
