#pragma once

#include <cstdint>
#include <vector>

#include "residua/base/rational.h"
#include "residua/measure/encoded_table.h"
#include "residua/model/domain.h"

namespace residua::oracle {

// Row by row, cell by cell.
std::vector<int64_t> NaiveMarginal(const EncodedTable& table, const Domain& domain,
                                   const AttributeSet& set);

using DenseMatrix = std::vector<std::vector<Integer>>;

// The Kronecker product written out, and a matrix times a vector.
DenseMatrix Kronecker(const DenseMatrix& left, const DenseMatrix& right);
std::vector<Integer> Multiply(const DenseMatrix& matrix, const std::vector<Integer>& vector);

}  // namespace residua::oracle
