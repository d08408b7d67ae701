#pragma once

#include <functional>
#include <span>
#include <vector>

#include "residua/select/solvers/noise_solution.h"
#include "residua/select/solvers/variance_matrix.h"

namespace residua {

// loss(variances, gradient): convex, non-decreasing and differentiable.
using RowLoss = std::function<double(std::span<const double>, std::span<double>)>;
NoiseSolution MinimizeConvex(const VarianceMatrix& matrix, std::span<const double> cost,
                             const RowLoss& loss, double budget, const SolverOptions& options,
                             std::span<const double> prior = {});

// (sum_j weight[j] * variance_j^p)^(1/p), p >= 1, for MinimizeConvex.
RowLoss PNormLoss(std::vector<double> weight, double p);

}  // namespace residua
