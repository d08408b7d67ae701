#include "residua/select/select.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "residua/base/error.h"
#include "residua/model/closure.h"
#include "residua/select/choose_bases.h"
#include "residua/select/most_expensive_pair.h"
#include "residua/select/objective_rows.h"
#include "residua/select/plan_errors.h"
#include "residua/select/rounding.h"
#include "residua/select/solvers/closed_form.h"
#include "residua/select/solvers/convex_loss.h"
#include "residua/select/solvers/max_variance.h"

namespace residua {
namespace {

// Everything a solver needs, with interchangeable attributes collapsed.
struct Problem {
  Protection protection;
  WorkloadOrbits workload;
  std::vector<ResidualBasis> basis_of_class;
  MultisetTable mechanisms;
  std::vector<double> cost;  // of each orbit of mechanisms, all its members together
};

Problem MakeProblem(const Protection& protection, WorkloadOrbits workload) {
  Problem problem;
  problem.protection = protection;
  problem.workload = std::move(workload);
  problem.mechanisms = Closure(problem.workload.orbits);
  if (protection.neighbours == Protection::Neighbours::kReplaceOne &&
      problem.mechanisms.size() == 1) {
    Fail(ErrorKind::kBadInput,
         "only the total is asked for, which replacing a row does not change, so that it needs no "
         "budget; ask for a table, or protect rows added or removed");
  }
  return problem;
}

MechanismOrbits MechanismsWith(const Problem& problem, const std::vector<ResidualBasis>& bases) {
  return {problem.protection, bases, problem.workload.classes, problem.mechanisms};
}

std::vector<ResidualBasis> GivenBases(const SelectRequest& request,
                                      const AttributeClasses& classes) {
  if (static_cast<int>(request.matrices.size()) != request.domain.size()) {
    Fail(ErrorKind::kBadInput, "{} residual matrices for {} attributes; give one for each",
         request.matrices.size(), request.domain.size());
  }
  std::vector<ResidualBasis> bases;
  for (const auto& members : classes.members) {
    const Attribute& attribute = request.domain[members.front()];
    const ResidualMatrix& matrix = request.matrices[static_cast<size_t>(members.front())];
    for (const int i : members) {
      if (request.matrices[static_cast<size_t>(i)] != matrix) {
        Fail(ErrorKind::kBadInput,
             "attributes '{}' and '{}' are interchangeable but have different residual matrices",
             attribute.name, request.domain[i].name);
      }
    }
    const bool is_identity = std::holds_alternative<SubtractionMatrix>(matrix);
    if (is_identity != (attribute.queries == QueryKind::kIdentity)) {
      Fail(ErrorKind::kBadInput, "attribute '{}' has a residual matrix of the wrong kind",
           attribute.name);
    }
    bases.push_back(is_identity ? IdentityBasis(attribute) : BasisFrom(attribute, matrix));
  }
  return bases;
}

// Adds the bases that were asked for, or the best for `solve`, and their costs.
void AddBases(const SelectRequest& request, StrategyGoal goal,
              const std::function<BasisProblem::Outcome(const std::vector<ResidualBasis>&)>& solve,
              Problem* problem) {
  std::vector<double> importance;
  if (goal == StrategyGoal::kMax) {
    const auto& members = problem->workload.classes.members;
    std::vector<ResidualBasis> sizes(members.size());  // as WeighTables looks at them
    for (size_t c = 0; c < sizes.size(); ++c) {
      sizes[c].num_answers = NumAnswers(request.domain[members[c].front()]);
    }
    importance = WeighTables(problem->workload, sizes, request.objective.weighting).importance;
  }
  problem->basis_of_class =
      request.matrices.empty()
          ? ChooseBases({&request.domain, &problem->workload, &problem->mechanisms, solve, goal,
                         request.basis, request.solver.stop, std::move(importance),
                         request.protection.neighbours == Protection::Neighbours::kReplaceOne})
          : GivenBases(request, problem->workload.classes);
  problem->cost = CostOfOrbits(MechanismsWith(*problem, problem->basis_of_class));
}

// At a privacy cost of 1; every built-in objective scales with the noise.
NoiseSolution Solve(const ObjectiveRows& rows, std::span<const double> cost,
                    const SolverOptions& options) {
  constexpr double kUnitBudget = 1.0;
  const Objective& objective = rows.objective;
  if (objective.kind == Objective::Kind::kMaxVariance) {
    return MinimizeMax(rows.matrix, cost, rows.weight, kUnitBudget, options);
  }
  if (objective.kind == Objective::Kind::kSumVariance || objective.p == 1) {
    return MinimizeSum(rows.matrix, cost, rows.weight, kUnitBudget);
  }
  return MinimizeConvex(rows.matrix, cost, PNormLoss(rows.weight, objective.p), kUnitBudget,
                        options);
}

// Bases are compared by losses this near to their optimum: far nearer than bases differ.
constexpr double kBasisTolerance = 1e-5;
constexpr double kMaxBasisTolerance = 1e-4;
constexpr int kMaxBasisIterations = 200;

// The weight of each row at this noise.
std::vector<double> LossGradient(const ObjectiveRows& rows, std::span<const double> noise) {
  if (rows.objective.kind != Objective::Kind::kPNorm) return rows.weight;
  std::vector<double> variances(static_cast<size_t>(rows.matrix.num_rows()));
  std::vector<double> gradient(variances.size());
  Multiply(rows.matrix, noise, variances);
  PNormLoss(rows.weight, rows.objective.p)(variances, gradient);
  return gradient;
}

void CheckTarget(const LossTarget& target) {
  if (!(target.loss > 0) || !std::isfinite(target.loss)) {
    Fail(ErrorKind::kBadInput, "the target loss is {}; it must be positive and finite",
         target.loss);
  }
  CheckDelta(target.delta);
}

// Whoever bounds the largest variance means that of every answer, and not one times an importance.
void CheckBoundsEveryAnswer(const Domain& domain, const Workload& workload,
                            const Objective& objective) {
  if (objective.kind != Objective::Kind::kMaxVariance) return;
  for (const WeightedMarginal& table : workload.marginals) {
    if (!(table.weight < 1)) continue;
    Fail(ErrorKind::kBadInput,
         "the weight of table {} is {}, so that a target for the largest variance would not bound "
         "every answer; give weights of at least 1, or a budget",
         SetName(domain, table.attributes), table.weight);
  }
  for (const Attribute& attribute : domain.attributes()) {
    const std::vector<double>& weights = attribute.level_weights;
    if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) ==
        weights.end()) {
      continue;
    }
    Fail(ErrorKind::kBadInput,
         "the levels of attribute '{}' have different weights, so that a target for the largest "
         "variance would not bound every answer; give equal weights, or a budget",
         attribute.name);
  }
}

void CheckObjective(const Objective& objective) {
  if (objective.kind == Objective::Kind::kPNorm &&
      (!(objective.p >= 1) || !std::isfinite(objective.p))) {
    Fail(ErrorKind::kBadInput, "p-norm: p is {}; it must be at least 1 and finite", objective.p);
  }
}

void CheckWeights(const Domain& domain, const Workload& workload) {
  const WeightedMarginal* table = WeightOutOfRange(workload);
  if (table == nullptr) return;
  Fail(
      ErrorKind::kBadInput,
      "the weight {} of marginal {} must be between {} and {}; a table that does not matter can be "
      "left out",
      table->weight, SetName(domain, table->attributes), kLeastTableWeight, kMostTableWeight);
}

Plan AssemblePlan(const SelectRequest& request, Problem problem, const NoiseSolution& solution,
                  const Budget& budget, RoundedNoise rounded) {
  Plan plan;
  plan.domain = request.domain;
  plan.workload = request.workload;
  plan.objective = request.objective;
  plan.budget = budget;
  plan.protection = std::move(problem.protection);
  plan.classes = std::move(problem.workload.classes);
  plan.bases = std::move(problem.basis_of_class);
  plan.mechanisms = std::move(problem.mechanisms);
  plan.variances = std::move(rounded.variances);
  plan.scale_bits = std::move(rounded.scale_bits);
  plan.pcost = std::move(rounded.cost.pcost);
  plan.mu2 = std::move(rounded.cost.mu2);
  plan.relative_gap = std::max(0.0, solution.loss / solution.lower_bound - 1);
  plan.converged = solution.converged;
  return plan;
}

// `solution` is for a budget of 1; scaling it by 1/pcost solves the problem for any other.
std::vector<double> ScaleNoise(const NoiseSolution& solution, double factor) {
  std::vector<double> noise = solution.noise_variance;
  for (double& variance : noise) {
    variance *= factor;
    if (!std::isfinite(variance) || !(variance > 0)) {
      Fail(ErrorKind::kTooLarge, "the budget or target asks for noise beyond what a double holds");
    }
  }
  return noise;
}

bool ReplacesRows(const Problem& problem) {
  return problem.protection.neighbours == Protection::Neighbours::kReplaceOne;
}

// Where rows are replaced, what the noise of a solution truly costs may be above what it was solved
// for: scales the noise until it is not. Gives the factor.
double ScaleToTrueCost(const Problem& problem, double budget, NoiseSolution* solution) {
  if (!ReplacesRows(problem)) return 1;
  const RoundedNoise rounded =
      RoundForAccuracy(MechanismsWith(problem, problem.basis_of_class), solution->noise_variance);
  const double factor = ToDoubleUp(rounded.cost.pcost) / budget;
  for (double& variance : solution->noise_variance) variance *= factor;
  return factor;
}

// Mixtures of pairs that are tried.
constexpr int kMaxMixtures = 100;

// At a privacy cost of 1, for an objective that scales with the noise; `solve` is given what each
// orbit costs. Where rows are replaced the cost is the largest over all pairs of cells, and a
// solution for any mixture of pairs bounds the loss from below. Frank and Wolfe's method: the
// most expensive pair of each solution joins the mixture.
NoiseSolution SolveForProtection(
    const Problem& problem, const std::function<NoiseSolution(std::span<const double> cost)>& solve,
    double tolerance) {
  NoiseSolution best = solve(problem.cost);
  if (!ReplacesRows(problem)) return best;
  const MechanismOrbits mechanisms = MechanismsWith(problem, problem.basis_of_class);
  auto pair = FindMostExpensivePair(mechanisms, best.noise_variance);
  if (!pair) {
    best.loss *= ScaleToTrueCost(problem, 1, &best);
    return best;
  }
  NoiseSolution current = best;
  std::vector<double> cost = problem.cost;
  double lower_bound = 0;
  best.loss = std::numeric_limits<double>::infinity();
  for (int mixture = 0; mixture < kMaxMixtures; ++mixture) {
    lower_bound = std::max(lower_bound, current.lower_bound);
    if (current.loss * pair->cost < best.loss) {
      best = current;
      best.loss *= pair->cost;
      for (double& variance : best.noise_variance) variance *= pair->cost;
    }
    best.lower_bound = lower_bound;
    if (best.loss <= lower_bound * (1 + tolerance)) break;
    const double step = 2.0 / (mixture + 3);
    for (size_t k = 0; k < cost.size(); ++k) {
      // The total has no cost in any pair, and keeps its small one.
      if (problem.mechanisms[static_cast<int64_t>(k)].empty()) continue;
      cost[k] = (1 - step) * cost[k] + step * pair->cost_of_orbit[k];
    }
    current = solve(cost);
    pair = FindMostExpensivePair(mechanisms, current.noise_variance);
  }
  best.loss *= ScaleToTrueCost(problem, 1, &best);
  return best;
}

// Where rows are replaced the total costs nothing, yet it keeps the least noise that its error bar
// can be stated of: a standard deviation of 0.19.
constexpr double kLeastTotalVariance = 0.125;

std::vector<double> WithNoisyTotal(const Problem& problem, std::vector<double> noise) {
  const auto total = problem.mechanisms.Find({});
  if (ReplacesRows(problem) && total) {
    double& variance = noise[static_cast<size_t>(*total)];
    variance = std::max(variance, kLeastTotalVariance);
  }
  return noise;
}

// What the noise of a total that costs nothing adds to the gap: `lower_bound` is the least that
// loss times cost can be.
void IncludeTotal(const NoiseSolution& solution, const Rational& pcost, double loss, Plan* plan) {
  if (plan->protection.neighbours != Protection::Neighbours::kReplaceOne) return;
  plan->relative_gap =
      std::max(plan->relative_gap, loss * ToDoubleUp(pcost) / solution.lower_bound - 1);
}

constexpr int kMaxTargetAttempts = 100;

// Rounds the solution for the target, and assembles the plan.
Plan Finish(const SelectRequest& request, Problem problem, const NoiseSolution& solution,
            const std::variant<Budget, std::vector<double>>& target, double delta) {
  if (const auto* budget = std::get_if<Budget>(&target)) {
    const std::vector<double> noise =
        WithNoisyTotal(problem, ScaleNoise(solution, 1 / ToDoubleDown(budget->pcost)));
    RoundedNoise rounded =
        RoundWithinBudget(MechanismsWith(problem, problem.basis_of_class), noise, *budget);
    return AssemblePlan(request, std::move(problem), solution, *budget, std::move(rounded));
  }
  RoundedNoise rounded =
      RoundForAccuracy(MechanismsWith(problem, problem.basis_of_class),
                       WithNoisyTotal(problem, std::get<std::vector<double>>(target)));
  const Budget budget{BudgetUnit::kPcost, rounded.cost.pcost, delta};
  return AssemblePlan(request, std::move(problem), solution, budget, std::move(rounded));
}

}  // namespace

Plan Select(const SelectRequest& request) {
  CheckObjective(request.objective);
  CheckProtection(request.protection, request.domain);
  const auto* target = std::get_if<LossTarget>(&request.target);
  if (target != nullptr) CheckTarget(*target);
  CheckWorkload(request.domain, request.workload);
  CheckWeights(request.domain, request.workload);
  if (target != nullptr && target->bounds_every_answer) {
    CheckBoundsEveryAnswer(request.domain, request.workload, request.objective);
  }
  Problem problem = MakeProblem(request.protection, FindSymmetry(request.domain, request.workload));
  const bool max = request.objective.kind == Objective::Kind::kMaxVariance;
  AddBases(
      request, max ? StrategyGoal::kMax : StrategyGoal::kMean,
      [&](const std::vector<ResidualBasis>& bases) {
        const ObjectiveRows rows = MakeObjectiveRows(request.objective, problem.workload,
                                                     problem.mechanisms, bases, kMaxBasisTolerance);
        SolverOptions options = request.solver;
        options.tolerance = std::max(options.tolerance, max ? kMaxBasisTolerance : kBasisTolerance);
        if (max) options.max_iterations = std::min(options.max_iterations, kMaxBasisIterations);
        const NoiseSolution solution =
            Solve(rows, CostOfOrbits(MechanismsWith(problem, bases)), options);
        return BasisProblem::Outcome{solution.loss, LossGradient(rows, solution.noise_variance)};
      },
      &problem);
  // Solved on thinned rows, whose lower bound holds for all; the loss below is over all rows.
  const ObjectiveRows thin_rows =
      MakeObjectiveRows(request.objective, problem.workload, problem.mechanisms,
                        problem.basis_of_class, 0.1 * request.solver.tolerance);
  NoiseSolution solution = SolveForProtection(
      problem, [&](std::span<const double> cost) { return Solve(thin_rows, cost, request.solver); },
      request.solver.tolerance);
  const ObjectiveRows rows = MakeObjectiveRows(request.objective, problem.workload,
                                               problem.mechanisms, problem.basis_of_class);
  if (max) solution.loss = std::max(solution.loss, EvaluateLoss(rows, solution.noise_variance));
  if (target == nullptr) {
    Plan plan = Finish(request, problem, solution, std::get<Budget>(request.target), 0);
    plan.loss = EvaluateLoss(rows, NoiseVariances(plan));
    if (!(plan.loss > 0) || !std::isfinite(plan.loss)) {
      Fail(ErrorKind::kBadInput,
           "the loss of the plan cannot be computed in double precision; give custom queries "
           "entries of like size");
    }
    IncludeTotal(solution, plan.budget.pcost, plan.loss, &plan);
    return plan;
  }
  // The last factor absorbs the doubles' own error. A total that keeps its least noise may ask for
  // less of the others'.
  double factor = target->loss / solution.loss * (1 - 1e-13);
  for (int attempt = 0; attempt < kMaxTargetAttempts; ++attempt) {
    Plan plan = Finish(request, problem, solution, ScaleNoise(solution, factor), target->delta);
    plan.loss = EvaluateLoss(rows, NoiseVariances(plan));
    if (plan.loss <= target->loss) {
      IncludeTotal(solution, plan.pcost, target->loss, &plan);
      return plan;
    }
    factor *= target->loss / plan.loss * (1 - 1e-13);
  }
  Fail(ErrorKind::kBadInput, "no noise that can be drawn reaches the loss {}; ask for less",
       target->loss);
}

Plan SelectForLoss(const SelectRequest& request, const ConvexLoss& loss) {
  CheckProtection(request.protection, request.domain);
  CheckWorkload(request.domain, request.workload);
  CheckWeights(request.domain, request.workload);
  Problem problem =
      MakeProblem(request.protection, WithoutSymmetry(request.domain, request.workload));
  const auto* known_budget = std::get_if<Budget>(&request.target);
  const double likely_budget = known_budget != nullptr ? ToDoubleDown(known_budget->pcost) : 1;
  AddBases(
      request, StrategyGoal::kMean,
      [&](const std::vector<ResidualBasis>& bases) {
        const VarianceMatrix matrix = MeanVarianceMatrix(
            problem.workload.orbits, problem.mechanisms, bases, AnswerCounting::kWeighted);
        const NoiseSolution solution =
            MinimizeConvex(matrix, CostOfOrbits(MechanismsWith(problem, bases)), loss,
                           likely_budget, request.solver);
        std::vector<double> variances(static_cast<size_t>(matrix.num_rows()));
        std::vector<double> gradient(variances.size());
        Multiply(matrix, solution.noise_variance, variances);
        loss(variances, gradient);
        return BasisProblem::Outcome{solution.loss, std::move(gradient)};
      },
      &problem);
  const VarianceMatrix means =
      MeanVarianceMatrix(problem.workload.orbits, problem.mechanisms, problem.basis_of_class,
                         AnswerCounting::kWeighted);
  const auto loss_at = [&](std::span<const double> noise) {
    std::vector<double> variances(static_cast<size_t>(means.num_rows()));
    std::vector<double> gradient(variances.size());
    Multiply(means, noise, variances);
    return loss(variances, gradient);
  };
  const auto solve = [&](double budget) {
    NoiseSolution solution = MinimizeConvex(means, problem.cost, loss, budget, request.solver);
    if (ScaleToTrueCost(problem, budget, &solution) != 1) {
      solution.loss = loss_at(solution.noise_variance);
    }
    return solution;
  };
  Plan plan;
  if (const auto* budget = std::get_if<Budget>(&request.target)) {
    const double pcost = ToDoubleDown(budget->pcost);
    NoiseSolution solution = solve(pcost);
    for (double& variance : solution.noise_variance) variance *= pcost;
    plan = Finish(request, std::move(problem), solution, *budget, 0);
  } else {
    // The optimal loss falls as the budget grows: bracket the least budget that meets the target,
    // then bisect.
    const auto& target = std::get<LossTarget>(request.target);
    CheckTarget(target);
    const auto meets = [&](const NoiseSolution& solution) { return solution.loss <= target.loss; };
    double high = 1;
    NoiseSolution best = solve(high);
    while (!meets(best)) {
      high *= 4;
      if (high > 1e30) {
        Fail(ErrorKind::kBadInput, "no privacy budget reaches the loss {}", target.loss);
      }
      best = solve(high);
    }
    double low = high / 4;
    for (NoiseSolution trial = solve(low); meets(trial) && low > 1e-30; trial = solve(low)) {
      best = std::move(trial);
      high = low;
      low /= 4;
    }
    while (high > low * (1 + request.solver.tolerance)) {
      const double middle = std::sqrt(low * high);
      NoiseSolution trial = solve(middle);
      if (meets(trial)) {
        high = middle;
        best = std::move(trial);
      } else {
        low = middle;
      }
    }
    const std::vector<double> noise = best.noise_variance;
    plan = Finish(request, std::move(problem), best, noise, target.delta);
  }
  plan.loss = loss_at(NoiseVariances(plan));
  return plan;
}

}  // namespace residua
