#pragma once

#include <functional>
#include <span>

namespace residua {

// How much a table's mean cell variance counts: its number of cells, their square root, or 1; each
// times the weight the workload gives the table.
enum class Weighting { kCells, kSqrtCells, kEqual };

// The loss that the noise is chosen to minimise. With v_A the mean cell variance of table A, and
// w_A its importance:
//   kSumVariance: sum of w_A v_A
//   kMaxVariance: max over tables and cells of w_A (variance of the cell)
//   kPNorm:       (sum of w_A v_A^p)^(1/p)
// Where a mean is asked, kMaxVariance is over the counts too, which add up two cells: over all that
// is published, with a sum of (value - LOW) in units of HIGH - LOW, which has a cell's variance.
// Where attributes have `level_weights`, cells count as AnswerWeights says: v_A is the mean by
// shares, and the variance of a cell is times its importance, the product over the attributes.
struct Objective {
  enum class Kind { kSumVariance, kMaxVariance, kPNorm };
  Kind kind = Kind::kSumVariance;
  // Equal, for with kCells the total and the small tables, which everybody reads, come out worse
  // than from noise added table by table. The RMSE over all cells is kSumVariance with kCells.
  Weighting weighting = Weighting::kEqual;
  double p = 1;  // of kPNorm; at least 1
  bool operator==(const Objective&) const = default;
};

// A caller's own loss: the value at the tables' mean variances, and its gradient. It must be convex
// and non-decreasing. `variances` are in the order of WithoutSymmetry(domain, workload).
using ConvexLoss =
    std::function<double(std::span<const double> variances, std::span<double> gradient)>;

}  // namespace residua
