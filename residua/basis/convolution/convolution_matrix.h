#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "residua/base/axis_view.h"
#include "residua/base/int128.h"
#include "residua/base/rational.h"
#include "residua/basis/convolution/exact_product.h"
#include "residua/basis/residual_matrix.h"
#include "residua/model/attribute.h"

namespace residua {

// Every number of a ConvolutionMatrix is at most the first, but for the weights of the total, which
// are at most the second: so the sums below stay under 2^123, and entries within 2^60.
inline constexpr int64_t kMostConvolutionWeight = int64_t{1} << 20;
inline constexpr int64_t kMostTotalWeight = int64_t{1} << 40;

// Whether the attribute's basis can be a ConvolutionMatrix: that of prefix sums and ranges. And
// whether one is chosen: where there are more cells than a dense one is chosen for.
bool CanUseConvolution(const Attribute& attribute);
bool UsesConvolution(const Attribute& attribute);

// Error{kRefused} unless the matrix fits the attribute's number of cells, and its numbers are sound:
// weights are 1 to kMostConvolutionWeight, the kernel's first number too, the others not negative;
// those of the total are 0 to kMostTotalWeight.
void CheckConvolution(const Attribute& attribute, const ConvolutionMatrix& matrix);

// Exactly, for each column j but the last: A_j = sum over i >= j of r_i^2 c_{i-j}^2, and
// H_j = sum over i >= j of r_i^2 g_i c_{i-j}. With G = sum of r_i^2 g_i^2 the squared norms of the
// columns are d_j^2 A_j - 2 d_j H_j + G, and G for the last one.
std::vector<UInt128> SquaredColumns(const ConvolutionMatrix& matrix);
std::vector<UInt128> ProductsWithTotal(const ConvolutionMatrix& matrix);
Integer SquaredTotal(const ConvolutionMatrix& matrix);
// The largest squared column norm, exactly.
Integer SquaredSensitivity(const ConvolutionMatrix& matrix);
// How far two different columns' inner product is below zero at most. Without g no entry is
// negative, so that it is never below G - (H_j d_j + H_k d_k).
Integer LargestNegativeProduct(const ConvolutionMatrix& matrix);
// At least the largest entry in size: none is above its column's norm, nor above the product of the
// largest weights.
uint64_t LargestEntryOf(const ConvolutionMatrix& matrix);

// All entries. For attributes whose square fits memory.
IntegerMatrix Expanded(const ConvolutionMatrix& matrix);

ExactProduct KernelProduct(const ConvolutionMatrix& matrix);

// The matrix along an axis, from `from` to `to`, modulo 2^64 or 2^128. `product` is that of its
// kernel.
void ApplyConvolution(const ConvolutionMatrix& matrix, const ExactProduct& product,
                      const AxisView& axis, const uint64_t* from, uint64_t* to);
void ApplyConvolution(const ConvolutionMatrix& matrix, const ExactProduct& product,
                      const AxisView& axis, const UInt128* from, UInt128* to);
// The same of doubles, for what is not private.
void ApplyConvolution(const ConvolutionMatrix& matrix, const AxisView& axis, const double* from,
                      double* to);

}  // namespace residua
