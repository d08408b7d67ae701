#pragma once

#include <cstdint>

#include "residua/model/domain.h"

namespace residua {

// The most cells that JointCounts has: one counter for each takes 8 MiB, and so many numbers are
// soon sent.
inline constexpr int64_t kMaxJointCells = int64_t{1} << 20;

// The number of cells of all attributes together. Error{kTooLarge} beyond kMaxJointCells,
// Error{kBadInput} for an attribute whose mean is asked: its rows have numbers, not cells.
int64_t NumJointCells(const Domain& domain);

}  // namespace residua
