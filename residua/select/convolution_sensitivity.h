#pragma once

#include "residua/base/rational.h"
#include "residua/basis/residual_matrix.h"
#include "residua/model/attribute.h"

namespace residua {

// The largest squared column norm of the matrix, exactly, from its definition:
//   max over j of sum over i of r_i^2 (c_{i-j} d_j - g_i)^2, the last column's d being 0.
// Plans are verified with this. It shares no code with what prices them: sums of products are taken
// by Karatsuba's method in integers of 128 bits, where that goes by transforms modulo primes.
Integer RecomputedSensitivity(const ConvolutionMatrix& matrix);

// Error{kRefused} unless the matrix is sound and the attribute can have it.
void VerifyConvolution(const Attribute& attribute, const ConvolutionMatrix& matrix);

}  // namespace residua
