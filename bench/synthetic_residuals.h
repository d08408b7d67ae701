#pragma once

#include <vector>

#include "residua/basis/residual_basis.h"
#include "residua/reconstruct/residual_index.h"

namespace residua::bench {

std::vector<AttributeSet> SetsUpToThree(int num_attributes);

// The bases of identity attributes.
std::vector<ResidualBasis> IdentityBases(const Domain& domain);

// Residuals of any value: the time to reconstruct from them does not depend on it. Sets of
// `shared_order` attributes share one array, so that those of large tables fit into memory; the
// array is far larger than the caches.
struct Residuals {
  std::vector<std::vector<int64_t>> values;
  std::vector<ResidualView> views;
};
Residuals MakeResiduals(const std::vector<ResidualBasis>& basis_of_attribute,
                        const std::vector<AttributeSet>& sets, size_t shared_order);

}  // namespace residua::bench
