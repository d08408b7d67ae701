#pragma once

#include "residua/basis/basis_kind.h"
#include "residua/basis/residual_matrix.h"
#include "residua/model/attribute.h"

namespace residua {

// The ConvolutionMatrix of an attribute with prefix sums or ranges. With t = (i + 1/2) / (n - 1),
//   c_k = the coefficients of (1 - x)^-a,   c_0 = 1,   c_k = c_{k-1} (k - 1 + a) / k,
//   log r_i = p_1 log t + p_2 log(1 - t) + p_3 t + p_4 t^2,
// and d_j such that all columns have the same norm. With a = 1/2 and r = 1 this is the square root
// of the matrix of prefix sums. The five numbers were found by direct search for the least loss, at
// sizes up to 2^14; they move slowly with the logarithm of the size, and so does what is lost:
// docs/oblique_basis.md has figures. Then all is rounded to whole numbers.
ConvolutionMatrix FitConvolution(const Attribute& attribute, StrategyGoal goal);

// How finely: the integers for c_0, for r in the middle and for the median of d.
struct ConvolutionScales {
  double kernel = 4096;
  double rows = 256;
  double columns = 8192;
};
ConvolutionMatrix FitConvolution(const Attribute& attribute, StrategyGoal goal,
                                 const ConvolutionScales& scales);

}  // namespace residua
