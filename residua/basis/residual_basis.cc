#include "residua/basis/residual_basis.h"

#include "residua/base/error.h"

namespace residua {

ResidualBasis IdentityBasis(int64_t size) {
  RESIDUA_CHECK(size >= 2);
  const auto n = static_cast<double>(size);
  const Integer exact_n = static_cast<long>(size);
  ResidualBasis basis;
  basis.privacy_cost = (n - 1) / n;
  basis.num_answers = size;
  basis.mean = {(n - 1) / n, 1 / (n * n)};
  basis.peaks = {basis.mean};
  basis.squared_sensitivity = exact_n * (exact_n - 1);
  basis.variance_factor = exact_n * exact_n;
  return basis;
}

}  // namespace residua
