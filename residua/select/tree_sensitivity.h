#pragma once

#include "residua/base/rational.h"
#include "residua/basis/residual_matrix.h"

namespace residua {

// The largest squared column norm of the matrix, exactly, from its definition: with f the factors, s
// the shares and N their sum, column c of a node's rows is f_c N e_c - f s, of squared norm
//   f_c^2 N^2 - 2 f_c^2 N s_c + sum_d f_d^2 s_d^2,
// and a cell's is the sum over the nodes above it. Plans are verified with this. It shares no code
// with what prices them, and goes from the cells up where that goes from the root down.
Integer RecomputedSensitivity(const TreeMatrix& matrix);

// Error{kRefused} unless the matrix follows the attribute's own groups and is sound.
void VerifyTree(const Attribute& attribute, const TreeMatrix& matrix);

}  // namespace residua
