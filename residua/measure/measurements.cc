#include "residua/measure/measurements.h"

namespace residua {

int64_t NumResidualRows(const ResidualBasis& basis) {
  if (basis.is_identity()) return basis.size;
  return std::get<IntegerMatrix>(basis.matrix).num_rows;
}

}  // namespace residua
