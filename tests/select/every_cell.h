#pragma once

#include <string>
#include <vector>

#include "residua/select/lower_bound.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/workload_text.h"
#include "tests/oracle/dense_mechanism.h"

namespace residua {

inline Workload Marginals(const char* text) { return {ParseMarginalRules(text), {}}; }

// As the dense oracles have it: every cell counts alike.
inline Objective EveryCell(const std::string& text) {
  Objective objective = ParseObjective(text);
  if (objective.kind != Objective::Kind::kMaxVariance) objective.weighting = Weighting::kCells;
  return objective;
}

inline Plan PlanOf(const Domain& domain, const Workload& workload, const char* objective) {
  return Select({domain, workload, EveryCell(objective), BudgetFromPcost(1)});
}

inline double BoundOf(const Domain& domain, const Workload& workload, const char* objective) {
  return LeastLossBound(domain, workload, EveryCell(objective));
}

// All queries of the workload, stacked, one column for each cell.
inline Eigen::MatrixXd StackQueries(const Plan& plan) {
  std::vector<Eigen::MatrixXd> queries;
  int64_t num_rows = 1;
  for (const Attribute& attribute : plan.domain.attributes()) {
    queries.push_back(oracle::DenseQueries(attribute));
    num_rows *= attribute.size;
  }
  Eigen::MatrixXd stacked(0, num_rows);
  for (const AttributeSet& set : oracle::AllMarginals(plan)) {
    const Eigen::MatrixXd table = oracle::KroneckerOver(plan.domain, set, queries);
    const Eigen::Index rows = stacked.rows();
    stacked.conservativeResize(rows + table.rows(), num_rows);
    stacked.bottomRows(table.rows()) = table;
  }
  return stacked;
}

}  // namespace residua
