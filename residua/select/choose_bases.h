#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "residua/basis/basis_kind.h"
#include "residua/basis/residual_basis.h"
#include "residua/model/symmetry.h"
#include "residua/select/objective.h"
#include "residua/select/solvers/noise_solution.h"

namespace residua {

// What the bases are chosen for: a workload, its base mechanisms, and a loss.
struct BasisProblem {
  const Domain* domain = nullptr;
  const WorkloadOrbits* workload = nullptr;
  const MultisetTable* mechanisms = nullptr;
  // The least loss with these bases, one a class, and the weight it then gives to the mean variance
  // of each workload orbit's tables (a positive multiple of the loss's gradient).
  struct Outcome {
    double loss = 0;
    std::vector<double> weight;
  };
  std::function<Outcome(const std::vector<ResidualBasis>&)> solve;
  StrategyGoal goal = StrategyGoal::kMean;
  BasisKind kind = BasisKind::kOblique;
  std::stop_token stop = {};
  // Of kMax: what a variance counts for in the tables of each workload orbit.
  std::vector<double> importance = {};
  // For replaced rows the number of rows costs nothing.
  bool total_is_free = false;
};

// One basis for each class of attributes: identity attributes have the closed form, the others an
// integer matrix near the best of the family of StrategySolver. Only `solve` says what is best;
// every choice is a valid one. Classes with the same queries share a basis at first. Then each
// searches for its own from there, and keeps it if the loss falls by more than 0.01 %.
//
// kMean: the loss depends on an attribute through rho = privacy_cost * residual mean and
// s = constant mean alone. X splits as c 1 1^T + G, and the best X has c / (1 - c) equal to
// (d loss / d rho) / (d loss / d s): a secant search on the trade-off of all attributes at once.
// kMax: a search on the trade-off of one attribute after another, by the loss itself. So is that of
// prefix sums and ranges of thousands of cells for kMean (FitConvolutionWithTotal). Then, for kMax on
// workloads of few answers, weights of the answers from the dual of the whole problem (AnswerDual),
// which are kept if the loss falls by more than 0.02 %.
//
// The integers' scale is the least power of two that costs at most kRoundingGoal of the loss, or
// kRoundingLoss where the workload's largest tables would not leave room for more in 128 bits.
std::vector<ResidualBasis> ChooseBases(const BasisProblem& problem);

inline constexpr double kRoundingLoss = 5e-4;
inline constexpr double kRoundingGoal = 5e-5;

}  // namespace residua
