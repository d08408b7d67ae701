#pragma once

#include <Eigen/Core>

#include "residua/model/attribute.h"

namespace residua {

// For the mean of all prefix sums or ranges of many cells, the multipliers of the cells near the
// fixed point of StrategySolver at this trade-off: smooth functions of the cell's place but for the
// ends, so that they come from those of fewer cells. Those of ranges are their own mirror image.
// Nothing of the size of all ranges is formed.
Eigen::VectorXd SmoothMultipliers(QueryKind queries, int64_t size, double trade_off);

}  // namespace residua
