#pragma once

#include "residua/basis/residual_basis.h"
#include "residua/basis/residual_matrix.h"
#include "residua/model/attribute.h"

namespace residua {

// The basis as far as selection looks at it for means: what it costs, and `weighted_mean`. The sum
// over all answers of |row of W P|^2 is one over the rows of the matrix, whose terms times r^2 are
// smooth, but for the steps of r of ranges; it is taken from some thousand of them, and right to
// about 1e-3. O(n log n).
ResidualBasis DraftOfConvolution(const Attribute& attribute, const ConvolutionMatrix& matrix);

// The same sum from doubles: `inverse` undoes the kernel, and the weights are inverted.
double SumOfResiduals(QueryKind queries, const std::vector<double>& inverse,
                      const std::vector<double>& row_share,
                      const std::vector<double>& column_share);

}  // namespace residua
