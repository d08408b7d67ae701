#pragma once

#include <cstdint>

namespace residua {

// A row-major tensor seen from one of its axes: value (o, k, c) is at (o * size + k) * inner + c.
struct AxisView {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
};

}  // namespace residua
