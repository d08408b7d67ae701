#include "residua/select/objective_rows.h"

#include <algorithm>
#include <cmath>

#include "residua/base/error.h"
#include "residua/select/solvers/convex_loss.h"

namespace residua {

const WeightedMarginal* WeightOutOfRange(const Workload& workload) {
  for (const WeightedMarginal& table : workload.marginals) {
    if (!(table.weight >= kLeastTableWeight && table.weight <= kMostTableWeight)) return &table;
  }
  return nullptr;
}

TableWeights WeighTables(const WorkloadOrbits& workload,
                         const std::vector<ResidualBasis>& basis_of_class, Weighting weighting) {
  TableWeights weights;
  for (int64_t j = 0; j < workload.orbits.size(); ++j) {
    const double num_tables = OrbitSize(workload.classes, workload.orbits[j]).get_d();
    double num_answers = 1;
    for (const int c : workload.orbits[j]) {
      num_answers *= static_cast<double>(basis_of_class[static_cast<size_t>(c)].num_answers);
    }
    double importance = workload.weight[static_cast<size_t>(j)];
    if (weighting == Weighting::kCells) importance *= num_answers;
    if (weighting == Weighting::kSqrtCells) importance *= std::sqrt(num_answers);
    if (!std::isfinite(num_answers) || !std::isfinite(importance * num_tables)) {
      Fail(ErrorKind::kTooLarge, "a table of {} attributes has more cells than a double can hold",
           workload.orbits[j].size());
    }
    weights.importance.push_back(importance);
    weights.total_importance.push_back(importance * num_tables);
    weights.num_tables.push_back(num_tables);
    weights.num_answers.push_back(num_answers);
  }
  return weights;
}

ObjectiveRows MakeObjectiveRows(const Objective& objective, const WorkloadOrbits& workload,
                                const MultisetTable& mechanisms,
                                const std::vector<ResidualBasis>& basis_of_class,
                                double peak_tolerance) {
  const TableWeights weights = WeighTables(workload, basis_of_class, objective.weighting);
  if (objective.kind != Objective::Kind::kMaxVariance) {
    return {
        objective,
        MeanVarianceMatrix(workload.orbits, mechanisms, basis_of_class, AnswerCounting::kWeighted),
        weights.total_importance};
  }
  ObjectiveRows rows{objective,
                     PeakVarianceMatrix(workload.orbits, mechanisms, basis_of_class,
                                        AnswerCounting::kWeighted, peak_tolerance),
                     {}};
  rows.weight.reserve(rows.matrix.table.size());
  for (const int64_t j : rows.matrix.table) {
    rows.weight.push_back(weights.importance[static_cast<size_t>(j)]);
  }
  return rows;
}

double EvaluateLoss(const ObjectiveRows& rows, std::span<const double> noise_variance) {
  std::vector<double> variances(static_cast<size_t>(rows.matrix.num_rows()));
  Multiply(rows.matrix, noise_variance, variances);
  if (rows.objective.kind == Objective::Kind::kMaxVariance) {
    double loss = 0;
    for (size_t j = 0; j < variances.size(); ++j) {
      loss = std::max(loss, rows.weight[j] * variances[j]);
    }
    return loss;
  }
  std::vector<double> gradient(variances.size());
  const double p = rows.objective.kind == Objective::Kind::kPNorm ? rows.objective.p : 1;
  return PNormLoss(rows.weight, p)(variances, gradient);
}

}  // namespace residua
