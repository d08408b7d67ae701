#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "residua/reconstruct/residual_index.h"

namespace residua {

struct NonnegativeOptions {
  // How far from the optimum an answer may be, in its unbiased estimate's standard deviations: a
  // tenth is far below what the noise does.
  double max_deviation = 0.1;
  int max_iterations = 10000;  // planned releases took 20 to 2000
  int64_t memory_budget_bytes = int64_t{1} << 32;
  int num_threads = 0;  // 0: as many as there are processors
};

// Tables without negative counts that agree on what they share: of the `tables`, none of which is
// part of another, the most likely such counts. With y_A the measured residuals, R_A x what they
// would be without noise, and `total` the reconstructed total, or 0 if that is negative,
//   minimise    f(q) = 1/2 sum over A != {} of ||R_A q - y_A||^2 / variance_A
//   subject to  q_T >= 0, q_T sums to `total`, and q_T and q_T' agree on T cap T'.
// Minus f is the logarithm of the likelihood of the measurements (with the noise's normal
// approximation), up to a constant. The unbiased tables p have f = 0; f(q) = 1/2 (q - p)^T K^+ (q -
// p), K their joint covariance. Biased, and without error bars.
//
// By weak duality f(q) >= -1/2 u^T K u - u^T p for every u >= 0: the difference of the two sides,
// `gap`, bounds how far f(q) is from its minimum. As f is quadratic, (q - q*)^T K^+ (q - q*) <= 2
// gap with q* the optimum; so by the Cauchy-Schwarz inequality no count, and no sum of counts, is
// further from the optimum's than `max_deviation` = sqrt(2 gap) standard deviations of its unbiased
// estimate. Only this shows that the iteration reached its limit: the counts are non-negative and
// agree, to rounding, whatever the number of iterations.
struct NonnegativeTables {
  double total = 0;
  std::vector<AttributeSet> tables;
  std::vector<int64_t> begin;  // of each table's cells in `counts`, and their end
  std::vector<double> counts;  // each table row-major, the last attribute fastest
  int iterations = 0;
  // The part of `counts` that is a product of one-way tables, mixed in so that no count is
  // negative.
  double mixed_in = 0;
  double objective = 0;  // f(`counts`); 0 where the total is 0
  double max_deviation = 0;
};

// Reconstructs those of `tables` that are not part of another; the measurements must cover them,
// else Error{kBadInput}. Error{kTooLarge} if the work takes more than the memory budget, about 48
// bytes per cell. The result is the same with any number of threads.
//
// Deviation from the usual alternating projections: Dykstra's algorithm on these two sets is the
// projected gradient method on the dual, so it is run with Nesterov's momentum (FISTA, with
// O'Donoghue and Candes' restarts), which takes far fewer steps.
NonnegativeTables ReconstructNonnegative(const ResidualIndex& index,
                                         std::span<const AttributeSet> tables,
                                         const NonnegativeOptions& options = {});

// The counts of `table`: summed from the first of the tables that contains it. Error{kBadInput} if
// there is none.
std::vector<double> CountsOf(const NonnegativeTables& tables, const Domain& domain,
                             const AttributeSet& table);

}  // namespace residua
