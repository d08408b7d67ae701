#pragma once

#include <span>
#include <vector>

#include "residua/reconstruct/residual_index.h"

namespace residua {

// What each answer along one axis contributes to a variance, in the axis's order.
using AxisVariances = std::vector<QueryVariance>;

// For the cells themselves. One entry stands for all of an attribute whose cells are alike.
AxisVariances CellVariancesOf(const ResidualBasis& basis);

// The variance of every answer of the table on A, row-major in `axes`:
//   sum over A' subset A of variance_{A'} prod_{i in A'} residual_i prod_{j in A\A'} constant_j.
// A single number if every axis has a single entry: all answers are alike then.
// `num_answers` of each axis says how often a single entry is repeated otherwise.
std::vector<double> TableVariances(const ResidualIndex& index, const AttributeSet& table,
                                   std::span<const AxisVariances> axes,
                                   std::span<const int64_t> num_answers);

}  // namespace residua
