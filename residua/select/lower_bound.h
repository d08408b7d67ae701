#pragma once

#include "residua/model/domain.h"
#include "residua/model/workload.h"
#include "residua/select/objective.h"

namespace residua {

// What no matrix mechanism of privacy cost 1 (rows added or removed) can beat: a lower bound on the
// objective's loss over all of them, whatever they measure, found without looking at any plan. For
// ordinary marginals it is the SVD bound of Li and Miklau, which is attained; the record domain is
// never built.
//
// Per attribute i take weights lambda >= 0 of the cells, sum 1, and a unit vector y over the
// answers. With M = W diag(lambda)^1/2 and q = lambda^1/2, let
//   rho_i = |(I - y y^T) M (I - q q^T)|_*^2   (|.|_* the sum of singular values),
//   s_i   = (y^T M q)^2.
// Then the weighted sum of variances is at least
//   (sum over A' of sqrt(sum over workload A superset A' of
//                        weight_A prod_{A'} rho_i prod_{A\A'} s_j))^2,
// the closed form of a plan with (rho_i, s_i) in place of a basis's; docs/lower_bound.md has the
// proof. Every lambda and y give a bound, and the best of a few dozen is kept. An attribute that is
// in every table is not split at all: (|M|_*^2, 0) holds for it, so that a single table's bound is
// the least loss itself. The bound for the largest variance is that of the largest mean over a
// table, and for a p-norm the convex bound on the same means.
double LeastLossBound(const Domain& domain, const Workload& workload, const Objective& objective);

}  // namespace residua
