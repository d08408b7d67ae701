#include "residua/select/bound/mirrored_ranges.h"

#include <cmath>
#include <utility>

namespace residua {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// V^-1 = (n/2) D^T D, D the differences of neighbours with nothing beyond the ends. In the basis of
// (e_j - e_{n+1-j}) / sqrt(2), D^T D is tridiag(-1, 2, -1), with 3 at last where n is even.
BidiagonalRoot OppositeRoot(const VectorXd& lambda, Index num_cells) {
  const Index half = num_cells / 2;
  const auto size = static_cast<double>(num_cells);
  VectorXd pivots(half);
  VectorXd below(half - 1);
  double trace = 0;
  for (Index k = 0; k < half; ++k) {
    const auto place = static_cast<double>(k + 1);
    const bool is_middle = k + 1 == half && num_cells % 2 == 0;
    pivots(k) = size / 2 * (1 / place + (is_middle ? 2 : 1)) / lambda(k);
    if (k + 1 < half) below(k) = -place / (place + 1) * std::sqrt(lambda(k) / lambda(k + 1));
    trace += lambda(k) * place * (size + 1 - place) * 2 / (size * (size + 1));
  }
  return {std::move(pivots), std::move(below), {}, 0, trace};
}

}  // namespace

// In the basis of (e_j + e_{n+1-j}) / sqrt(2), and the cell in the middle where n is odd, D has as
// many rows that do not vanish as columns: x_1, x_k - x_{k-1}, at last sqrt(2) x_m - x_{m-1} where
// n is odd. Its inverse, transposed, takes the sums of all x from each one on, the last x over
// sqrt(2). The first sum is the total.
MirroredRanges MirrorRanges(const VectorXd& lambda, double total_factor) {
  const Index n = lambda.size();
  const VectorXd mirrored = (lambda + lambda.reverse()).head(n - n / 2) / 2;
  VectorXd cells = mirrored.reverse();
  if (n % 2 == 1) cells(0) /= 2;
  VectorXd weight = VectorXd::Constant(cells.size(), 2 / static_cast<double>(n));
  weight(weight.size() - 1) *= total_factor;
  return {std::move(cells), std::move(weight), OppositeRoot(mirrored, n)};
}

}  // namespace residua
