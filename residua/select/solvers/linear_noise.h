#pragma once

#include <span>

namespace residua {

// Minimises sum_i demand[i] * noise_variance[i] subject to sum_i cost[i] / noise_variance[i] <=
// budget. By Cauchy-Schwarz the minimum is T = (sum_i sqrt(cost[i] demand[i]))^2 / budget, which is
// returned, at noise_variance[i] = sqrt(T cost[i] / (budget demand[i])). Every solver takes its
// steps and its lower bounds from here.
double SolveLinear(std::span<const double> cost, std::span<const double> demand, double budget,
                   std::span<double> noise_variance);

}  // namespace residua
