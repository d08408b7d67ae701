#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/base/axis_view.h"
#include "residua/base/int128.h"
#include "residua/basis/convolution/exact_product.h"
#include "residua/basis/residual_matrix.h"

namespace residua {

// All arithmetic here is modulo 2^64, or 2^128: where the true results fit, as the caller has made
// sure, they are exact, whatever the numbers on the way.

// H = n I - 1 1^T along the axis, in place.
void ApplySubtraction(const AxisView& axis, std::span<int64_t> values);
void ApplySubtraction(const AxisView& axis, std::span<Int128> values);

// H along both of two neighbouring axes, the second the innermost, in place: of each plane x, with
// its row sums r, column sums c and total t, n m x - n r - m c + t in two passes.
void ApplySubtractionToPlanes(int64_t outer, int64_t num_rows, int64_t num_columns,
                              std::span<int64_t> values);

// Any matrix along the axis; gives the results.
std::vector<int64_t> ApplyMatrix(const IntegerMatrix& matrix, const AxisView& axis,
                                 std::span<const int64_t> values);
std::vector<Int128> ApplyMatrix(const IntegerMatrix& matrix, const AxisView& axis,
                                std::span<const Int128> values);

// The same for the rows of a tree.
std::vector<int64_t> ApplyTreeMatrix(const TreeMatrix& matrix, const AxisView& axis,
                                     std::span<const int64_t> values);
std::vector<Int128> ApplyTreeMatrix(const TreeMatrix& matrix, const AxisView& axis,
                                    std::span<const Int128> values);

// The same for a convolution; `product` is that of its kernel.
std::vector<int64_t> ApplyConvolutionMatrix(const ConvolutionMatrix& matrix,
                                            const ExactProduct& product, const AxisView& axis,
                                            std::span<const int64_t> values);
std::vector<Int128> ApplyConvolutionMatrix(const ConvolutionMatrix& matrix,
                                           const ExactProduct& product, const AxisView& axis,
                                           std::span<const Int128> values);

// The sum of counts. A negative one is a bug, a sum beyond 63 bits Error{kTooLarge}.
int64_t SumOfCounts(std::span<const int64_t> counts);

}  // namespace residua
