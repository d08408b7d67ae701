#include "residua/select/select_after.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "residua/base/error.h"
#include "residua/model/closure.h"
#include "residua/select/combined_plan.h"
#include "residua/select/objective_rows.h"
#include "residua/select/rounding.h"
#include "residua/select/solvers/closed_form.h"
#include "residua/select/solvers/convex_loss.h"
#include "residua/select/solvers/max_variance.h"

namespace residua {
namespace {

// What is left out of a plan: a set whose noise would add so little to what is known.
constexpr double kLeastAddition = 1e-9;
// Of the search for the least cost of a target.
constexpr double kTargetTolerance = 1e-6;
constexpr double kMostTargetCost = 1e30;
// As of Select: a total that costs nothing keeps some noise.
constexpr double kLeastVarianceOfTotal = 0.125;

// What the earlier measurements know together.
Plan KnownPlan(const std::vector<MeasuredPlan>& earlier) {
  return earlier.size() == 1 ? *earlier.front().plan : CombinePlans(earlier).plan;
}

std::set<int> MeasuredAttributes(const Plan& plan) {
  std::set<int> attributes;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    for (const int c : plan.mechanisms[k]) {
      const auto& members = plan.classes.members[static_cast<size_t>(c)];
      attributes.insert(members.begin(), members.end());
    }
  }
  return attributes;
}

// The problem that is left, with interchangeable attributes collapsed.
struct ProblemAfter {
  Protection protection;
  WorkloadOrbits workload;
  std::vector<ResidualBasis> basis_of_class;
  MultisetTable mechanisms;
  std::vector<double> cost;
  std::vector<double> prior;

  MechanismOrbits Orbits(const MultisetTable& orbits) const {
    return {protection, basis_of_class, workload.classes, orbits};
  }
};

ProblemAfter MakeProblemAfter(const SelectRequest& request, const Plan& known, const Plan& fresh) {
  ProblemAfter problem;
  problem.protection = request.protection;
  const AttributeClasses* const both[] = {&fresh.classes, &known.classes};
  problem.workload = OrbitsUnder(request.domain, request.workload, CommonClasses(both));
  const AttributeClasses& classes = problem.workload.classes;
  problem.mechanisms = Closure(problem.workload.orbits);
  const std::set<int> measured = MeasuredAttributes(known);
  for (const auto& members : classes.members) {
    const int i = members.front();
    if (!measured.contains(i)) {
      problem.basis_of_class.push_back(
          fresh.bases[static_cast<size_t>(fresh.classes.class_of[static_cast<size_t>(i)])]);
      continue;
    }
    if (known.domain[i].level_weights != request.domain[i].level_weights) {
      Fail(ErrorKind::kRefused,
           "the levels of attribute '{}' had other weights in the earlier release; give them the "
           "same, or plan without the earlier release",
           request.domain[i].name);
    }
    if (!SameQueries(known.domain[i], request.domain[i])) {
      Fail(ErrorKind::kRefused,
           "attribute '{}' was measured for other queries, so that the releases could not be "
           "combined; ask for the same queries of it, or plan without the earlier release",
           request.domain[i].name);
    }
    problem.basis_of_class.push_back(
        known.bases[static_cast<size_t>(known.classes.class_of[static_cast<size_t>(i)])]);
  }
  problem.cost = CostOfOrbits(problem.Orbits(problem.mechanisms));
  for (int64_t k = 0; k < problem.mechanisms.size(); ++k) {
    std::vector<int> of_known;  // each class lies within one of the earlier
    for (const int c : problem.mechanisms[k]) {
      const int i = classes.members[static_cast<size_t>(c)].front();
      of_known.push_back(known.classes.class_of[static_cast<size_t>(i)]);
    }
    std::sort(of_known.begin(), of_known.end());
    const auto found = known.mechanisms.Find(of_known);
    problem.prior.push_back(
        found ? Rational(1 / known.variances[static_cast<size_t>(*found)]).get_d() : 0);
  }
  return problem;
}

NoiseSolution SolveAfter(const ProblemAfter& problem, const ObjectiveRows& rows, double budget,
                         const SolverOptions& options) {
  const Objective& objective = rows.objective;
  if (objective.kind == Objective::Kind::kMaxVariance) {
    return MinimizeMax(rows.matrix, problem.cost, rows.weight, budget, options, problem.prior);
  }
  if (objective.kind == Objective::Kind::kSumVariance || objective.p == 1) {
    return MinimizeSum(rows.matrix, problem.cost, rows.weight, budget, problem.prior);
  }
  return MinimizeConvex(rows.matrix, problem.cost, PNormLoss(rows.weight, objective.p), budget,
                        options, problem.prior);
}

// The sets that the solution measures, and their noise.
struct Measured {
  MultisetTable orbits;
  std::vector<size_t> number;  // in the problem's mechanisms
  std::vector<double> noise;
};

Measured MeasuredOf(const ProblemAfter& problem, const NoiseSolution& solution) {
  Measured measured;
  for (size_t k = 0; k < problem.prior.size(); ++k) {
    const double tau = 1 / solution.noise_variance[k] - problem.prior[k];
    if (!(tau > kLeastAddition * problem.prior[k])) continue;
    measured.orbits.Insert(problem.mechanisms[static_cast<int64_t>(k)]);
    measured.number.push_back(k);
    measured.noise.push_back(1 / tau);
  }
  return measured;
}

// Where rows are replaced, what the noise truly costs may be above what it was solved for.
void ScaleToCost(const ProblemAfter& problem, double budget, Measured* measured) {
  if (problem.protection.neighbours != Protection::Neighbours::kReplaceOne) return;
  const RoundedNoise rounded = RoundForAccuracy(problem.Orbits(measured->orbits), measured->noise);
  const double factor = ToDoubleUp(rounded.cost.pcost) / budget;
  for (size_t k = 0; k < measured->noise.size(); ++k) {
    measured->noise[k] *= factor;
    if (measured->orbits[static_cast<int64_t>(k)].empty()) {
      measured->noise[k] = std::max(measured->noise[k], kLeastVarianceOfTotal);
    }
  }
}

// Of all measurements together, at this noise of the new one.
double LossTogether(const ProblemAfter& problem, const ObjectiveRows& rows,
                    const Measured& measured, const std::vector<Rational>& variances) {
  std::vector<double> precision = problem.prior;
  for (size_t k = 0; k < variances.size(); ++k) {
    precision[measured.number[k]] += 1 / variances[k].get_d();
  }
  std::vector<double> noise;
  for (const double value : precision) noise.push_back(1 / value);
  return EvaluateLoss(rows, noise);
}

// The least budget that reaches the loss, which falls as the budget grows.
double BudgetFor(const LossTarget& target, const std::function<double(double)>& loss_at) {
  if (!(target.loss > 0) || !std::isfinite(target.loss)) {
    Fail(ErrorKind::kBadInput, "the target loss is {}; it must be positive and finite",
         target.loss);
  }
  double high = 1;
  while (!(loss_at(high) <= target.loss)) {
    high *= 4;
    if (high > kMostTargetCost) {
      Fail(ErrorKind::kBadInput, "no privacy budget reaches the loss {}", target.loss);
    }
  }
  double low = high;
  do {
    low /= 4;
    if (low < 1 / kMostTargetCost) {
      Fail(ErrorKind::kBadInput,
           "the earlier releases reach the loss {} already; combine them, nothing more is needed",
           target.loss);
    }
  } while (loss_at(low) <= target.loss);
  while (high > low * (1 + kTargetTolerance)) {
    const double middle = std::sqrt(low * high);
    (loss_at(middle) <= target.loss ? high : low) = middle;
  }
  return high;
}

}  // namespace

PlanAfter SelectAfter(const SelectRequest& request, const std::vector<MeasuredPlan>& earlier) {
  RESIDUA_CHECK(!earlier.empty());
  PlanAfter result;
  result.fresh = Select(request);
  const Plan& fresh = result.fresh;
  for (const MeasuredPlan& measured : earlier) CheckSameCells(*measured.plan, fresh);
  const Plan known = KnownPlan(earlier);
  ProblemAfter problem = MakeProblemAfter(request, known, fresh);
  // Solved on thinned rows, whose lower bound holds for all.
  const ObjectiveRows thin_rows =
      MakeObjectiveRows(request.objective, problem.workload, problem.mechanisms,
                        problem.basis_of_class, 0.1 * request.solver.tolerance);
  const ObjectiveRows rows = MakeObjectiveRows(request.objective, problem.workload,
                                               problem.mechanisms, problem.basis_of_class);
  const auto* target = std::get_if<LossTarget>(&request.target);
  const auto solve = [&](double budget) {
    return SolveAfter(problem, thin_rows, budget, request.solver);
  };
  const double cost = target == nullptr ? ToDoubleDown(std::get<Budget>(request.target).pcost)
                                        : BudgetFor(*target, [&](double budget) {
                                            return EvaluateLoss(rows, solve(budget).noise_variance);
                                          });
  const NoiseSolution solution = solve(cost);
  Measured measured = MeasuredOf(problem, solution);
  ScaleToCost(problem, cost, &measured);
  Plan& plan = result.plan;
  const MechanismOrbits orbits = problem.Orbits(measured.orbits);
  RoundedNoise rounded;
  if (target == nullptr) {
    plan.budget = std::get<Budget>(request.target);
    rounded = RoundWithinBudget(orbits, measured.noise, plan.budget);
  } else {
    rounded = RoundForAccuracy(orbits, measured.noise);
    plan.budget = {BudgetUnit::kPcost, rounded.cost.pcost, target->delta};
  }
  plan.loss = LossTogether(problem, rows, measured, rounded.variances);
  plan.relative_gap = std::max(0.0, plan.loss / solution.lower_bound - 1);
  plan.converged = solution.converged;
  plan.domain = request.domain;
  plan.workload = request.workload;
  plan.objective = request.objective;
  plan.protection = request.protection;
  plan.mechanisms = std::move(measured.orbits);
  plan.variances = std::move(rounded.variances);
  plan.scale_bits = std::move(rounded.scale_bits);
  plan.pcost = std::move(rounded.cost.pcost);
  plan.mu2 = std::move(rounded.cost.mu2);
  plan.classes = std::move(problem.workload.classes);
  plan.bases = std::move(problem.basis_of_class);
  plan.after = earlier;
  return result;
}

Rational CostAtOnce(const SelectRequest& request, const Plan& plan) {
  SelectRequest at_once = request;
  at_once.target = LossTarget{plan.loss, plan.budget.delta, /*bounds_every_answer=*/false};
  return Select(at_once).pcost;
}

}  // namespace residua
