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
// optimum itself. Nothing factors over attributes, but weights can be equal along identity
// attributes. There the space falls apart into a block for each set H of them, prod_H (n_i - 1)
// times: the tables that hold H, over the cells of the other attributes, each row divided by the
// cells of its table's identity attributes. 0 if a bound would take more than two seconds: above
// about 250 cells of the other attributes, fewer if the stack is large.
double DenseMaxVarianceBound(const Domain& domain, const Workload& workload,
                             const Objective& objective);

}  // namespace residua
