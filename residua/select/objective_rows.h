#pragma once

#include <span>
#include <vector>

#include "residua/model/symmetry.h"
#include "residua/select/objective.h"
#include "residua/select/solvers/variance_matrix.h"

namespace residua {

// Weights of tables that can be planned for: products with numbers of cells and variances, their
// roots and their ratios stay within what doubles hold. Beyond, a table is all that matters, or
// nothing.
inline constexpr double kLeastTableWeight = 1e-30;
inline constexpr double kMostTableWeight = 1e30;
// A table of another weight; nullptr if there is none.
const WeightedMarginal* WeightOutOfRange(const Workload& workload);

// What a table of one workload orbit counts for. `num_tables` tables of `num_answers` cells each.
struct TableWeights {
  std::vector<double> importance;        // of one table of the orbit
  std::vector<double> total_importance;  // of all its tables
  std::vector<double> num_tables;
  std::vector<double> num_answers;
};
TableWeights WeighTables(const WorkloadOrbits& workload,
                         const std::vector<ResidualBasis>& basis_of_class, Weighting weighting);

// An objective as a function of the noise: the variances it looks at, and what each counts for.
struct ObjectiveRows {
  Objective objective;
  VarianceMatrix matrix;
  std::vector<double> weight;  // of each row
};
// With a `peak_tolerance`, rows of the largest variance are thinned as in PeakVarianceMatrix.
ObjectiveRows MakeObjectiveRows(const Objective& objective, const WorkloadOrbits& workload,
                                const MultisetTable& mechanisms,
                                const std::vector<ResidualBasis>& basis_of_class,
                                double peak_tolerance = 0);
double EvaluateLoss(const ObjectiveRows& rows, std::span<const double> noise_variance);

}  // namespace residua
