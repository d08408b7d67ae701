#pragma once

#include <span>

#include "residua/select/solvers/noise_solution.h"
#include "residua/select/solvers/variance_matrix.h"

namespace residua {

// loss = max_j weight[j] * variance_j, by multiplicative updates of the dual with longer steps.
NoiseSolution MinimizeMax(const VarianceMatrix& matrix, std::span<const double> cost,
                          std::span<const double> weight, double budget,
                          const SolverOptions& options, std::span<const double> prior = {});

}  // namespace residua
