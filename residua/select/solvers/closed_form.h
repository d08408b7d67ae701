#pragma once

#include <span>

#include "residua/select/solvers/noise_solution.h"
#include "residua/select/solvers/variance_matrix.h"

namespace residua {

// loss = sum_j weight[j] * variance_j, in closed form (the paper's lemma on weighted sums). Here
// and in the other solvers `prior` is as of SolveLinear.
NoiseSolution MinimizeSum(const VarianceMatrix& matrix, std::span<const double> cost,
                          std::span<const double> weight, double budget,
                          std::span<const double> prior = {});

}  // namespace residua
