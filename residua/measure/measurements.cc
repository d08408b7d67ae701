#include "residua/measure/measurements.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace residua {

NoisyValues InLeastWidth(std::vector<Int128> values) {
  const bool fit = std::all_of(values.begin(), values.end(), [](Int128 value) {
    return value >= std::numeric_limits<int64_t>::min() &&
           value <= std::numeric_limits<int64_t>::max();
  });
  if (!fit) return values;
  return std::vector<int64_t>(values.begin(), values.end());
}

}  // namespace residua
