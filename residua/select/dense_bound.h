#pragma once

#include "residua/model/domain.h"
#include "residua/model/workload.h"
#include "residua/select/objective.h"

namespace residua {

// A lower bound on the largest variance, importance included, of every matrix mechanism of privacy
// cost 1, over the records themselves. With Q the stack of all queries, each times the root of its
// table's importance, any weights mu of the queries and lambda of the records (each of sum 1) give
//   |diag(mu)^1/2 Q diag(lambda)^1/2|_*^2
// (docs/lower_bound.md). Both are found by the fixed point of StrategySolver, which tends to the
// optimum itself. Nothing factors over attributes: 0 if there are more than kMostRecords cells or
// the stack is large. At most half a second.
double DenseMaxVarianceBound(const Domain& domain, const Workload& workload,
                             const Objective& objective);
inline constexpr int64_t kMostRecords = 160;

}  // namespace residua
