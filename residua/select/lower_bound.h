#pragma once

#include <optional>

#include "residua/model/domain.h"
#include "residua/model/workload.h"
#include "residua/select/objective.h"
#include "residua/select/plan.h"

namespace residua {

// What no matrix mechanism of privacy cost 1 (rows added or removed) can beat: a lower bound on the
// objective's loss over all of them, whatever they measure, found without looking at any plan.
//
// Per attribute i take weights of the answers (equal for means) and lambda >= 0 of the cells, sum
// 1. With V_i = W_i^T diag(weight) W_i, h_i = 1^T V_i^+ 1, T_i^T T_i = V_i with first row
// 1^T / sqrt(h_i), and S_i = (T_i diag(lambda) T_i^T)^1/2, let L_i hold a few orthonormal
// directions, e_1 first, B_i = L_i^T S_i L_i and rho_i = tr S_i - tr B_i. Then
//   sum_A w_A (mean variance of table A)  >=
//   ( sum_H prod_{i in H} rho_i | D_H^1/2 kron_{i not in H} B_i |_* )^2,
// D_H diagonal over the sets P of attributes whose direction is not e_1, with entries
// sum_{A superset H union P} w_A prod_{i not in A} h_i. docs/lower_bound.md has the proof, and why
// the result holds in spite of rounding. For identity attributes it is the SVD bound of Li and
// Miklau, which is attained.
//
// Every choice of weights gives a bound. Those of the one-attribute problem are searched by its
// trade-off; for the largest variance and for p-norms also w, by ascent.
//
// Time, of one core: 1 ms for 100 prefix attributes of 10 cells and all tables of up to 3, where
// attributes are alike, 0.15 s for the sizes of Adult (0.7 s for the largest variance), 1.4 s for
// two attributes of 1024 cells and their plan. Where coupling all attributes would take long, fewer
// directions are coupled and the bound is looser: 100 attributes of 100 sizes take 5 to 11 s, and
// their plan minutes.
//
// Never negative; 0 says nothing. That happens if an attribute has more than 2048 cells with custom
// queries or with groups that overlap (where a hierarchy has few blocks, they count; see CellTree),
// or queries so nearly dependent that doubles cannot tell.
double LeastLossBound(const Domain& domain, const Workload& workload, const Objective& objective);

// What a plan's loss is held against: no matrix mechanism for the plan's privacy cost and
// protection has a loss below `lower_bound`, and the plan's is `above_lower_bound` times that
// above.
struct PlanCertificate {
  double lower_bound = 0;
  double above_lower_bound = 0;
};

// With identifiers of up to k rows the bound is k^2 times that for rows: a mechanism is no cheaper
// for the pairs of tables that differ in k equal rows. None if rows are replaced, where mechanisms
// may know the total exactly and no bound is proven; nor for a caller's own loss.
std::optional<PlanCertificate> CertifyPlan(const Plan& plan);

}  // namespace residua
