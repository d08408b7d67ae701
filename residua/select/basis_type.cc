#include "residua/select/basis_type.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/basis/convolution/convolution_fit.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/integer_basis.h"
#include "residua/basis/tree/tree_multipliers.h"

namespace residua {
namespace {

// Where the search for the trade-off of the largest variance starts.
constexpr double kFirstMaxTradeOff = 1.5;
// Attributes start from one of a quarter of their cells, down to this many, solved so far.
constexpr int64_t kCoarsest = 64;
constexpr double kCoarseTolerance = 1e-4;
constexpr int kCoarseIterations = 60;
// Steps of a solution of large attributes, and of trees of groups, whose steps are plain and take
// linear time.
constexpr int kLargeTypeSteps = 20;
constexpr int kTreeSearchSteps = 200;
constexpr int kTreeFinalSteps = 1500;
// Where what a tree of groups loses by its family is more than this, groups are left to its root,
// twice as many children each time. Bases of thousands of children take tens of seconds: they must
// be worth more.
constexpr double kMostFamilyLoss = 2e-3;
constexpr double kMostLossOfManyChildren = 5e-3;
constexpr int64_t kFewestTopChildren = 125;
constexpr int64_t kManyTopChildren = 1000;
constexpr int64_t kMostTopChildren = 4000;
// Strategies and multipliers need not be at their fixed points to tell.
constexpr double kFamilyTolerance = 2e-4;
constexpr int kFamilyIterations = 100;
constexpr int kFamilyClimb = 20;
// Weights that are orders of magnitude apart are solved from multipliers that are near the best
// ones, which come from a longer climb.
constexpr double kFarFromSolved = 0.02;
constexpr int kLongClimb = 100;
constexpr double kNeverEnough = std::numeric_limits<double>::infinity();
// Beyond, no class has a basis of its own.
constexpr size_t kMostTypes = 24;

// Runs `work` on the attribute's matrices, which are positive definite but for the rounding of
// queries that nearly depend on one another.
template <typename Work>
auto ToldApart(const Attribute& attribute, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kRefused || attribute.queries != QueryKind::kCustom) throw;
  }
  Fail(
      ErrorKind::kBadInput,
      "the queries of attribute '{}' nearly depend on one another, or their entries differ too "
      "much in size, so that no basis can tell them apart; write the entries with fewer digits and "
      "of like size, or leave a query out",
      attribute.name);
}

std::shared_ptr<StrategySolver> MakeSolver(const BasisProblem& problem, const Attribute& attribute,
                                           const QuerySpace& space) {
  auto solver = std::make_shared<StrategySolver>(space, problem.kind, problem.goal, problem.stop);
  const bool smooth =
      attribute.queries == QueryKind::kPrefix || attribute.queries == QueryKind::kRange;
  if (smooth && attribute.size >= 2 * kCoarsest) {
    Attribute coarse = attribute;
    coarse.size = attribute.size / 4;
    const QuerySpace coarse_space(coarse);
    BasisProblem mean = problem;
    mean.goal = StrategyGoal::kMean;
    const auto start = MakeSolver(mean, coarse, coarse_space);
    start->Solve(0, kCoarseTolerance, kCoarseIterations, false);
    solver->StartFrom(*start);
  }
  return solver;
}

// What the tree of a TreeSolver loses by its family is looked at where the attribute stands alone,
// and where the total counts for as much as all of its answers: eta is 0 or 1.
constexpr double kEtas[] = {0, 1};

// What tr((V + eta 1 1^T) X^-1) at X of diagonal at most 1 comes to, and how far the solver came.
struct Reached {
  double value = 0;
  double relative_gap = 0;
};
Reached ReachedBy(TreeSolver* solver, double eta) {
  const Strategy strategy =
      solver->Solve(PortableLog(1 + eta * solver->height()), kFamilyTolerance, kFamilyIterations);
  const double c = 1 - strategy.privacy_cost;
  const double value = strategy.residual_mean + (strategy.constant_mean + eta) / c;
  return {value / (1 + strategy.relative_gap), strategy.relative_gap};
}

// For means: leaves groups to the root of the type's tree as far as that is worth its while.
void ChooseTree(const BasisProblem& problem, BasisType* type) {
  const Attribute& attribute = *type->attribute;
  const auto groups = type->tree;
  type->tree_solver = std::make_shared<TreeSolver>(attribute, groups, problem.goal, problem.stop);
  if (problem.goal != StrategyGoal::kMean) return;
  TreeSolver& plain = *type->tree_solver;
  std::vector<double> proven;
  Eigen::VectorXd lambda =
      Eigen::VectorXd::Constant(attribute.size, 1 / static_cast<double>(attribute.size));
  double loss = 0;
  for (const double eta : kEtas) {
    const TreeProof proof{groups, plain.weights(), {{1, eta}}};
    Reached reached = ReachedBy(&plain, eta);
    if (reached.relative_gap > kFarFromSolved) {
      lambda =
          ClimbMultipliers(proof, lambda, {kNeverEnough, kFamilyTolerance / 8, kLongClimb}).lambda;
      plain.StartFrom(lambda);
      reached = ReachedBy(&plain, eta);
    } else {
      lambda = plain.multipliers();
    }
    const TreeMultipliers best = ClimbMultipliers(
        proof, lambda,
        {std::sqrt(reached.value) * (1 - kMostFamilyLoss / 2), kFamilyTolerance / 8, kFamilyClimb});
    lambda = best.lambda;
    proven.push_back(best.proven * best.proven);
    loss = std::max(loss, reached.value / proven.back() - 1);
  }
  for (int64_t most = kFewestTopChildren; most <= kMostTopChildren; most *= 2) {
    if (loss <= (most > kManyTopChildren ? kMostLossOfManyChildren : kMostFamilyLoss)) break;
    std::optional<CellTree> tree = CutTree(attribute, most);
    if (!tree) continue;
    auto shared = std::make_shared<const CellTree>(std::move(*tree));
    auto solver = std::make_shared<TreeSolver>(attribute, shared, problem.goal, problem.stop);
    solver->StartFrom(lambda);
    double now = 0;
    for (size_t k = 0; k < proven.size(); ++k) {
      now = std::max(now, ReachedBy(solver.get(), kEtas[k]).value / proven[k] - 1);
    }
    if (now < loss) {
      loss = now;
      type->tree = std::move(shared);
      type->tree_solver = std::move(solver);
    }
  }
}

}  // namespace

double BasisType::MostTradeOff() const {
  if (tree_solver == nullptr) return kMostTradeOff;
  return kMostTradeOff + PortableLog(std::max(1.0, tree_solver->height()));
}

int BasisType::search_steps() const {
  if (is_large()) return kLargeTypeSteps;
  return tree_solver != nullptr ? kTreeSearchSteps : kSearchSteps;
}

int BasisType::final_steps() const {
  if (is_large()) return kLargeTypeSteps;
  return tree_solver != nullptr ? kTreeFinalSteps : kFinalSteps;
}

Strategy BasisType::Solve(double at, double tolerance, int max_steps, bool with_gram) const {
  if (tree_solver != nullptr) return tree_solver->Solve(at, tolerance, max_steps, with_gram);
  return ToldApart(*attribute, [&] {
    return answer_weight.size() == 0 ? solver->Solve(at, tolerance, max_steps, with_gram)
                                     : solver->SolveWeighed(at, tolerance, max_steps, with_gram);
  });
}

void BasisType::Weigh(const Eigen::VectorXd& weight) {
  answer_weight = weight;
  ToldApart(*attribute, [&] { solver->WeighAnswers(answer_weight); });
}

std::vector<BasisType> GroupTypes(const BasisProblem& problem) {
  std::vector<BasisType> types;
  const AttributeClasses& classes = problem.workload->classes;
  for (int c = 0; c < classes.size(); ++c) {
    const Attribute& attribute = (*problem.domain)[classes.members[static_cast<size_t>(c)].front()];
    if (attribute.queries == QueryKind::kIdentity) continue;
    const auto known = std::find_if(types.begin(), types.end(), [&](const BasisType& type) {
      return SameQueries(*type.attribute, attribute);
    });
    if (known != types.end()) {
      known->classes.push_back(c);
      continue;
    }
    BasisType type;
    type.attribute = &attribute;
    type.classes = {c};
    if (UsesConvolution(attribute)) {
      if (problem.kind == BasisKind::kOrthogonal) {
        Fail(ErrorKind::kTooLarge,
             "attribute '{}' has {} cells; an orthogonal basis is planned for at most {}: choose "
             "the "
             "oblique one",
             attribute.name, attribute.size, kMaxBasisCells);
      }
      type.is_convolution = problem.goal == StrategyGoal::kMean && !problem.total_is_free;
      if (!type.is_convolution) {
        type.fixed = std::make_shared<const ResidualBasis>(
            BasisFromConvolution(attribute, FitConvolution(attribute, problem.goal)));
      }
      types.push_back(std::move(type));
      continue;
    }
    if (auto tree = TreeFor(attribute)) {
      type.tree = std::make_shared<const CellTree>(std::move(*tree));
      if (problem.kind == BasisKind::kOrthogonal && type.tree->kind == CellTree::Kind::kGroups) {
        if (attribute.size > kMaxBasisCells) {
          Fail(ErrorKind::kTooLarge,
               "attribute '{}' has {} cells; an orthogonal basis of its groups is planned for at "
               "most {}: choose the oblique one",
               attribute.name, attribute.size, kMaxBasisCells);
        }
        type.tree = nullptr;
      }
    }
    if (problem.goal == StrategyGoal::kMax) type.trade_off = kFirstMaxTradeOff;
    if (type.tree != nullptr && type.tree->kind == CellTree::Kind::kGroups) {
      ChooseTree(problem, &type);
      types.push_back(std::move(type));
      continue;
    }
    // Few blocks of nested groups: the same X as StrategySolver's, in linear time.
    if (type.tree != nullptr && problem.goal == StrategyGoal::kMean &&
        problem.kind == BasisKind::kOblique && attribute.strategy.num_rows == 0 &&
        GroupTree(attribute)) {
      type.tree_solver =
          std::make_shared<TreeSolver>(attribute, type.tree, problem.goal, problem.stop);
      types.push_back(std::move(type));
      continue;
    }
    type.space = type.tree != nullptr ? std::make_shared<QuerySpace>(attribute, *type.tree)
                                      : std::make_shared<QuerySpace>(attribute);
    if (attribute.strategy.num_rows > 0) {
      type.factor = ToldApart(attribute, [&] {
        const SplitStrategy split = SplitUserStrategy(*type.space, attribute);
        return FactorBasis(split.gram, split.constant);
      });
    } else {
      type.solver =
          ToldApart(attribute, [&] { return MakeSolver(problem, attribute, *type.space); });
    }
    types.push_back(std::move(type));
  }
  return types;
}

std::vector<BasisType> SplitTypes(const std::vector<BasisType>& types, StrategyGoal goal) {
  std::vector<BasisType> split;
  for (const BasisType& type : types) {
    if (type.is_given() || type.is_large()) {
      split.push_back(type);
      continue;
    }
    for (const int c : type.classes) {
      BasisType own = type;
      own.classes = {c};
      // For the largest variance all classes choose among the same solutions.
      if (goal == StrategyGoal::kMean && type.solver != nullptr) {
        own.solver = std::make_shared<StrategySolver>(*type.solver);
      } else if (goal == StrategyGoal::kMean) {
        own.tree_solver = std::make_shared<TreeSolver>(*type.tree_solver);
      }
      split.push_back(std::move(own));
    }
  }
  if (split.size() > kMostTypes || split.size() == types.size()) return types;
  return split;
}

void PutBasis(const BasisType& type, const ResidualBasis& basis,
              std::vector<ResidualBasis>* bases) {
  for (const int c : type.classes) (*bases)[static_cast<size_t>(c)] = basis;
}

ResidualBasis Draft(const BasisType& type, const Strategy& strategy) {
  ResidualBasis basis;
  basis.size = type.attribute->size;
  basis.num_answers = NumAnswers(*type.attribute);
  basis.privacy_cost = strategy.privacy_cost;
  basis.weighted_mean = {strategy.residual_mean, strategy.constant_mean};
  std::vector<QueryVariance> points;
  for (Eigen::Index q = 0; q < strategy.residual_variance.size(); ++q) {
    points.push_back({std::max(0.0, strategy.residual_variance(q)), strategy.constant_variance(q)});
  }
  if (!points.empty()) basis.weighted_peaks = UpperRightHull(std::move(points));
  return basis;
}

Eigen::MatrixXd FactorOf(const BasisType& type, const Strategy& strategy) {
  return ToldApart(*type.attribute, [&] { return FactorBasis(strategy.gram, strategy.constant); });
}

std::optional<ResidualBasis> RoundedTo(int scale_bits, const BasisType& type) {
  if (type.fixed != nullptr) return *type.fixed;
  const auto rounded = [&] {
    if (type.tree_solver != nullptr) {
      return BasisFromTree(
          *type.attribute,
          type.factor.size() > 0
              ? RoundCut(type.tree, type.factor, type.on_tree, type.shares, scale_bits)
              : RoundTree(type.tree, type.on_tree, type.shares, scale_bits));
    }
    if (type.tree != nullptr) {
      return BasisFromTree(*type.attribute, RoundBlocks(*type.space, type.tree, type.factor,
                                                        type.on_tree, scale_bits));
    }
    return BasisFromMatrix(*type.attribute,
                           RoundBasis(*type.space, type.factor, std::ldexp(1, scale_bits)));
  };
  if (scale_bits >= kMostScaleBits) return ToldApart(*type.attribute, rounded);
  try {
    return rounded();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kRefused) throw;
  }
  return {};
}

}  // namespace residua
