#pragma once

#include <Eigen/Dense>
#include <vector>

#include "residua/select/plan.h"

namespace residua::oracle {

// Everything by its definition, with matrices over the whole domain: for domains of at most
// a few hundred cells. Shares no code with the planner beyond the Plan it is given.

// The subtraction matrix: row k is e_0 - e_{k+1}.
Eigen::MatrixXd SubtractionMatrix(int64_t size);

// The attribute's query matrix, entry by entry as its definition says.
Eigen::MatrixXd DenseQueries(const Attribute& attribute);

// kron over all attributes of (in_set[i] if i is in `set`, else a row of ones).
Eigen::MatrixXd KroneckerOver(const Domain& domain, const AttributeSet& set,
                              const std::vector<Eigen::MatrixXd>& in_set);

// All subsets of all of the plan's workload marginals, enumerated one by one.
std::vector<AttributeSet> AllMarginals(const Plan& plan);
std::vector<AttributeSet> AllMechanisms(const Plan& plan);

// B^T Sigma^-1 B summed over the plan's base mechanisms: its largest diagonal entry is pcost.
Eigen::MatrixXd PrivacyCostMatrix(const Plan& plan);

// Q (B^T Sigma^-1 B)^+ Q^T for the table on `set`, one row of Q per answer.
Eigen::MatrixXd MarginalCovariance(const Plan& plan, const AttributeSet& set);

}  // namespace residua::oracle
