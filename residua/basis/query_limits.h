#pragma once

#include <cstdint>

#include "residua/model/attribute.h"

namespace residua {

// Beyond this many cells a dense basis would take hours to choose and gigabytes to hold.
inline constexpr int64_t kMaxBasisCells = 4096;
// Beyond as many, prefix sums and ranges have a ConvolutionMatrix, up to these: the variances of n
// prefix sums take n^2 steps, seconds at the limit, and of ranges there are n^2 / 2.
inline constexpr int64_t kMaxPrefixCells = int64_t{1} << 18;
inline constexpr int64_t kMaxRangeCells = int64_t{1} << 13;
// Beyond this many cells a basis that follows a tree of groups would take gigabytes to choose.
inline constexpr int64_t kMaxTreeCells = int64_t{1} << 20;

// Throws Error{kBadInput} or Error{kTooLarge} with the remedy unless the attribute's queries make
// sense: groups name cells that exist, once each; custom matrices have finite entries, a column for
// each cell and no column of zeros, and their rows can be combined to the all-ones row (the total).
// Identity attributes may have any size, hierarchies whose groups make a tree or few blocks (see
// CellTree) kMaxTreeCells cells, prefix sums kMaxPrefixCells, ranges kMaxRangeCells, others at most
// kMaxBasisCells.
void CheckQueries(const Attribute& attribute);

}  // namespace residua
