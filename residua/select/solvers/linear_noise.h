#pragma once

#include <span>

namespace residua {

// Minimises sum_i demand[i] * noise_variance[i] subject to sum_i cost[i] / noise_variance[i] <=
// budget. By Cauchy-Schwarz the minimum is T = (sum_i sqrt(cost[i] demand[i]))^2 / budget, which is
// returned, at noise_variance[i] = sqrt(T cost[i] / (budget demand[i])). Every solver takes its
// steps and its lower bounds from here.
//
// With a `prior`, mechanism i is known with the precision prior[i] already, and noise_variance[i] =
// 1 / (prior[i] + tau[i]) is that of all together: the constraint is sum_i cost[i] tau[i] <= budget,
// tau >= 0, and the minimum at tau[i] = max(0, sqrt(demand[i] / (theta cost[i])) - prior[i]).
double SolveLinear(std::span<const double> cost, std::span<const double> demand, double budget,
                   std::span<double> noise_variance, std::span<const double> prior = {});

}  // namespace residua
