#pragma once

#include <variant>

#include "residua/basis/basis_kind.h"
#include "residua/select/plan.h"
#include "residua/select/solvers/noise_solution.h"

namespace residua {

// Least privacy cost such that the objective's loss is at most `loss`. Epsilon is stated at
// `delta`.
struct LossTarget {
  double loss = 0;
  double delta = kDefaultDelta;
  // One for the largest variance must bound that of every answer: weights with which it would not
  // are refused.
  bool bounds_every_answer = true;
};

struct SelectRequest {
  Domain domain;
  Workload workload;
  Objective objective;
  std::variant<Budget, LossTarget> target;
  Protection protection = {};
  SolverOptions solver = {};
  BasisKind basis = BasisKind::kOblique;
  // The residual basis of each attribute, e.g. from an earlier plan for the same workload; chosen
  // if empty.
  std::vector<ResidualMatrix> matrices = {};
};

// Chooses a residual basis for each attribute, then the noise of every base mechanism, optimally
// for the objective among all noise for these bases, from public knowledge alone. The plan's
// variances are rounded to rationals on the side that keeps the target: its exact cost is at most
// the budget, or its loss at most the one asked for.
Plan Select(const SelectRequest& request);

// The same for a caller's own loss of the tables' mean variances, by shares (AnswerWeights). No symmetry is assumed of it.
// The plan's `objective` is then only a label.
Plan SelectForLoss(const SelectRequest& request, const ConvexLoss& loss);

}  // namespace residua
