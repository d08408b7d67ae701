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
// A finer kernel for more cells.
ConvolutionScales ScalesFor(const Attribute& attribute);
ConvolutionMatrix FitConvolution(const Attribute& attribute, StrategyGoal goal,
                                 const ConvolutionScales& scales);

// The same for the mean, with a part of the total in every row:
//   g = C y,   y_j in proportion to t_j^-alpha (1 - t_j)^-beta,
// so that y_j / d_j is what cell j has of z. |diag(r) g|^2 is a share of the squared norm that all
// columns have, which follows from d: of (d A - H)^2 = H^2 + A (norm^2 - G) the larger root
// (convolution_matrix.h). c_k is divided by (1 - k / n)^e: of ranges, the total less a range is one
// too, round a circle, so that cells far apart are near again. A `trade_off` from 0, for which the
// total has the least noise that is worth its cost, to MostConvolutionTradeOff, where it counts ten
// times the mean: the more it is, the more the total says of the cells. The nine numbers were found
// by direct search at whole trade-offs, and are linear in between; `long_bench` prints what each of
// these loses.
double MostConvolutionTradeOff(const Attribute& attribute);
ConvolutionMatrix FitConvolutionWithTotal(const Attribute& attribute, double trade_off);
ConvolutionMatrix FitConvolutionWithTotal(const Attribute& attribute, double trade_off,
                                          const ConvolutionScales& scales);

}  // namespace residua
