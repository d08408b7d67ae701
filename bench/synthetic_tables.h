#pragma once

#include <string>
#include <vector>

#include "residua/measure/encoded_table.h"
#include "residua/model/domain.h"

namespace residua::bench {

// Identity attributes a0, a1, ... of these sizes.
Domain DomainOf(const std::vector<int64_t>& sizes);
Domain EqualSizes(int count, int64_t size);
// 2, 3, 4, ... values, no two alike, as --domain takes them.
std::string DifferentSizes(int count);
// The 14 attributes of the Adult data set.
Domain AdultDomain();

// Independent uniform codes: every cell occurs, which is the hardest case for a cache.
EncodedTable UniformTable(const Domain& domain, int64_t num_rows);

}  // namespace residua::bench
