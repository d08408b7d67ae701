#include "residua/select/bound/smooth_multipliers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "residua/base/portable_math.h"
#include "residua/basis/accelerator.h"
#include "residua/basis/bidiagonal_root.h"
#include "residua/basis/strategy_solver.h"
#include "residua/select/bound/mirrored_ranges.h"

namespace residua {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

// The first has this many cells or fewer, and each after it this many times those before. Stretched
// from 64 cells at once they would be wrong near the ends, which costs 1 % for 16,384 prefix sums.
constexpr int64_t kFirstCells = 64;
constexpr int64_t kGrowth = 4;
// Steps of each but the last, and of the last: for 65,536 prefix sums the bound loses 1e-4 without
// a step there, 3e-5 with one and 1e-6 with two.
constexpr int kStepsBetween = 12;
constexpr int kLastSteps = 2;
// No multiplier is below e to this times the largest.
constexpr double kLeastLog = -32;

// lambda_j X_jj: the diagonal of (diag(lambda)^1/2 (V + eta 1 1^T) diag(lambda)^1/2)^1/2.
VectorXd WeighedDiagonal(QueryKind queries, const VectorXd& lambda, double total_factor) {
  const Index n = lambda.size();
  if (queries == QueryKind::kPrefix) {
    VectorXd weight = VectorXd::Constant(n, 1 / static_cast<double>(n));
    weight(n - 1) *= total_factor;
    return RootOfSummedCells(weight, lambda).Diagonal();
  }
  const MirroredRanges mirrored = MirrorRanges(lambda, total_factor);
  const VectorXd alike = RootOfSummedCells(mirrored.weight, mirrored.cells).Diagonal().reverse();
  const VectorXd opposite = mirrored.opposite.Diagonal();
  VectorXd diagonal(n);
  if (n % 2 == 1) diagonal(n / 2) = alike(n / 2);
  for (Index k = 0; k < n / 2; ++k) {
    diagonal(k) = (alike(k) + opposite(k)) / 2;
    diagonal(n - 1 - k) = diagonal(k);
  }
  return diagonal;
}

VectorXd OfSumOne(const VectorXd& logs) {
  const VectorXd powers = (logs.array() - logs.maxCoeff()).max(kLeastLog).exp();
  return powers / powers.sum();
}

}  // namespace

VectorXd SmoothMultipliers(QueryKind queries, int64_t size, double trade_off) {
  const double total_factor = PortableExp(trade_off);
  std::vector<int64_t> sizes = {size};
  while (sizes.back() > kFirstCells) sizes.push_back((sizes.back() + kGrowth - 1) / kGrowth);
  VectorXd logs = VectorXd::Zero(static_cast<Index>(sizes.back()));
  for (size_t level = sizes.size(); level-- > 0;) {
    logs = Stretched(logs, static_cast<Index>(sizes[level]));
    Accelerator accelerator;
    for (int step = 0; step < (level == 0 ? kLastSteps : kStepsBetween); ++step) {
      const VectorXd lambda = OfSumOne(logs);
      const VectorXd diagonal = WeighedDiagonal(queries, lambda, total_factor);
      const double trace = diagonal.sum();
      const VectorXd move = (diagonal.cwiseQuotient(lambda) / trace).array().log();
      logs = accelerator.Next(logs, move, trace);
    }
  }
  return OfSumOne(logs);
}

}  // namespace residua
