#include "residua/select/choose_bases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "residua/base/error.h"
#include "residua/base/portable_math.h"
#include "residua/base/stop.h"
#include "residua/basis/convolution/convolution_draft.h"
#include "residua/basis/convolution/convolution_fit.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/integer_basis.h"
#include "residua/basis/strategy_solver.h"
#include "residua/basis/tree_solver.h"
#include "residua/model/closure.h"
#include "residua/select/solvers/variance_matrix.h"

namespace residua {
namespace {

// While searching, a strategy this near to its optimum has a loss right to a tenth of this.
constexpr double kSearchTolerance = 1e-4;
constexpr double kMaxSearchTolerance = 3e-4;
constexpr int kSearchIterations = 60;
// The final strategy.
constexpr double kFinalTolerance = 1e-6;
constexpr int kFinalIterations = 200;
// Above this many cells a dense step takes a second: the last digits are not worth a minute.
constexpr int64_t kLargeAttribute = 400;
constexpr double kLargeTolerance = 2e-5;
constexpr int kLargeIterations = 20;
// Bracket of the trade-off u: beyond, privacy costs differ from their limits by less than 1e-3.
constexpr double kLeastTradeOff = -12;
constexpr double kMostTradeOff = 12;
// The same for the largest variance, in steps of 1/16, and where its search starts. The loss of
// many attributes is steep: steps of 1/4 lost 0.6 % on the sizes of Adult.
constexpr double kMaxStep = 1.0 / 16;
constexpr int kLeastMaxStep = -32;
constexpr int kMostMaxStep = 160;
constexpr double kFirstMaxTradeOff = 1.5;
// How much log(c / (1 - c)) moves with u, roughly, before a secant is known.
constexpr double kFirstSlope = 0.35;
// An error of this size in log(c / (1 - c)) changes the loss by less than 1e-5 of it.
constexpr double kBalanced = 0.01;
constexpr int kSearchRounds = 8;
// Attributes start from one of a quarter of their cells, down to this many.
constexpr int64_t kCoarsest = 64;
// Classes with the same queries have bases of their own if that gains this much of the loss, where
// there are no more types than this then.
constexpr double kWorthSplitting = 1e-4;
constexpr size_t kMostTypes = 24;
// Scales of integer bases that are tried.
constexpr int kLeastScaleBits = 6;
constexpr int kMostScaleBits = 24;
// Prefix sums and ranges come to 13, whatever their number of cells.
constexpr int kLargeScaleBits = 12;
// Of the 127 bits of a measured integer, 31 are left to the number of rows.
constexpr int kBitsForBases = 96;

double Logit(double share) { return PortableLog(share / (1 - share)); }

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

// Attributes with the same queries that share a basis.
struct BasisType {
  const Attribute* attribute = nullptr;
  std::vector<int> classes;
  std::shared_ptr<const QuerySpace> space;
  std::shared_ptr<StrategySolver> solver;
  std::shared_ptr<const CellTree> tree;     // that the basis follows, if any
  std::shared_ptr<TreeSolver> tree_solver;  // in place of space and solver
  Eigen::MatrixXd factor;   // of the user's own strategy, or the solver's in the end
  Eigen::VectorXd on_tree;  // beside the factor, of blocks; or in its place
  std::shared_ptr<const ResidualBasis> fixed;  // in place of all of these
  bool is_convolution = false;                 // whose trade-off is searched by the loss
  double trade_off = 0;

  bool is_given() const { return solver == nullptr && tree_solver == nullptr; }
  bool is_large() const {
    return solver != nullptr && space->rank() > kLargeAttribute && !solver->is_fast();
  }
  Strategy Solve(double at, double tolerance, int max_iterations, bool with_gram) const {
    if (tree_solver != nullptr) return tree_solver->Solve(at, tolerance, max_iterations);
    return ToldApart(*attribute,
                     [&] { return solver->Solve(at, tolerance, max_iterations, with_gram); });
  }
};

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
    start->Solve(0, kSearchTolerance, kSearchIterations, false);
    solver->StartFrom(*start);
  }
  return solver;
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

// A type for each class, from the trade-offs found for all classes of a type together; as it is if
// that would be too many, or none more.
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

// A basis as far as selection looks at it: its answers as the objective counts them.
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

// What is chosen, in integers of that scale. None if they are too coarse for queries that nearly
// depend on one another, and finer ones can be had.
std::optional<ResidualBasis> RoundedTo(int scale_bits, const BasisType& type) {
  if (type.fixed != nullptr) return *type.fixed;
  const auto rounded = [&] {
    if (type.tree_solver != nullptr) {
      return BasisFromTree(*type.attribute, RoundTree(type.tree, type.on_tree, scale_bits));
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

int CountOf(std::span<const int> orbit, int attribute_class) {
  return static_cast<int>(std::count(orbit.begin(), orbit.end(), attribute_class));
}

// Derivatives of the loss by the logarithms of rho and s of a class, up to a common factor. Both
// come from the terms (coefficient of mechanism k in table j) * sigma2_k * weight_j, of which rho
// has the power (attributes of the class in k), s the power (those in j but not in k).
struct Sensitivity {
  double rho = 0;
  double s = 0;
};
std::vector<Sensitivity> SensitivityToClasses(const BasisProblem& problem,
                                              const std::vector<ResidualBasis>& bases,
                                              const std::vector<double>& weight) {
  const MultisetTable& tables = problem.workload->orbits;
  const MultisetTable& mechanisms = *problem.mechanisms;
  const VarianceMatrix means =
      MeanVarianceMatrix(tables, mechanisms, bases, AnswerCounting::kWeighted);
  std::vector<double> demand(static_cast<size_t>(mechanisms.size()));
  MultiplyTransposed(means, weight, demand);
  std::vector<double> noise(demand.size());
  for (int64_t k = 0; k < mechanisms.size(); ++k) {
    double cost = OrbitSize(problem.workload->classes, mechanisms[k]).get_d();
    for (const int c : mechanisms[k]) cost *= bases[static_cast<size_t>(c)].privacy_cost;
    const double needed = demand[static_cast<size_t>(k)];
    noise[static_cast<size_t>(k)] = needed > 0 ? std::sqrt(cost / needed) : 0;
  }
  std::vector<Sensitivity> sensitivity(bases.size());
  for (int64_t j = 0; j < means.num_rows(); ++j) {
    const std::vector<ClassRun> runs = ClassRuns(tables[j]);
    for (int64_t e = means.row_begin[static_cast<size_t>(j)];
         e < means.row_begin[static_cast<size_t>(j) + 1]; ++e) {
      const int64_t k = means.column[static_cast<size_t>(e)];
      const double term = weight[static_cast<size_t>(j)] *
                          means.coefficient[static_cast<size_t>(e)] * noise[static_cast<size_t>(k)];
      for (const ClassRun& run : runs) {
        const int taken = CountOf(mechanisms[k], run.attribute_class);
        Sensitivity& by = sensitivity[static_cast<size_t>(run.attribute_class)];
        by.rho += term * taken;
        by.s += term * (run.count - taken);
      }
    }
  }
  return sensitivity;
}

class Search {
 public:
  explicit Search(const BasisProblem& problem) : problem_(problem), types_(GroupTypes(problem)) {
    const AttributeClasses& classes = problem.workload->classes;
    for (const auto& members : classes.members) {
      bases_.push_back(IdentityBasis((*problem.domain)[members.front()].size));
    }
    for (const BasisType& type : types_) {
      if (type.is_convolution) {
        Put(type, DraftOfConvolution(*type.attribute, FitConvolutionWithTotal(*type.attribute, 0)));
      } else if (type.is_given()) {
        Put(type, *RoundedTo(kMostScaleBits, type));
      }
    }
  }

  std::vector<ResidualBasis> Run() {
    if (types_.empty()) return bases_;
    if (problem_.kind == BasisKind::kOblique) {
      double shared_loss = SearchTradeOffs();
      if (SearchConvolutions()) shared_loss = SearchTradeOffs();
      std::vector<BasisType> split = SplitTypes(types_, problem_.goal);
      if (split.size() > types_.size()) {
        const std::vector<ResidualBasis> shared_bases = bases_;
        std::swap(types_, split);
        if (!(SearchTradeOffs() < shared_loss * (1 - kWorthSplitting))) {
          std::swap(types_, split);
          bases_ = shared_bases;
        }
      }
    }
    for (BasisType& type : types_) {
      if (type.is_convolution) {
        type.fixed = std::make_shared<const ResidualBasis>(BasisFromConvolution(
            *type.attribute, FitConvolutionWithTotal(*type.attribute, type.trade_off)));
        Put(type, *type.fixed);
      }
      if (type.is_given()) continue;
      const bool exact = problem_.goal == StrategyGoal::kMean && !type.is_large();
      const Strategy strategy =
          type.Solve(type.trade_off, exact ? kFinalTolerance : kLargeTolerance,
                     type.is_large() ? kLargeIterations : kFinalIterations, true);
      Put(type, Draft(type, strategy));
      type.on_tree = type.tree_solver != nullptr ? strategy.tree_scale : strategy.left_over;
      if (type.tree_solver != nullptr) continue;
      type.factor =
          ToldApart(*type.attribute, [&] { return FactorBasis(strategy.gram, strategy.constant); });
    }
    return Rounded();
  }

 private:
  void Put(const BasisType& type, const ResidualBasis& basis) {
    for (const int c : type.classes) bases_[static_cast<size_t>(c)] = basis;
  }

  // From the types' trade-offs, and never to a greater loss. Gives the least one.
  double SearchTradeOffs() {
    return problem_.goal == StrategyGoal::kMean ? SearchBySecants() : SearchByLoss();
  }

  // Each in turn, by the loss, first among all and then in smaller steps. Whether any moved.
  bool SearchConvolutions() {
    bool moved = false;
    for (BasisType& type : types_) {
      if (!type.is_convolution) continue;
      double best = type.trade_off;
      double least_loss = problem_.solve(bases_).loss;
      const auto look_at = [&](double trade_off) {
        if (trade_off < 0 || trade_off > kMostConvolutionTradeOff) return;
        CheckNotStopped(problem_.stop);
        Put(type, DraftOfConvolution(*type.attribute,
                                     FitConvolutionWithTotal(*type.attribute, trade_off)));
        const double loss = problem_.solve(bases_).loss;
        if (!(loss < least_loss)) return;
        least_loss = loss;
        best = trade_off;
      };
      for (double at = 1; at <= kMostConvolutionTradeOff; ++at) look_at(at);
      for (const double step : {0.5, 0.25}) {
        const double centre = best;
        look_at(centre - step);
        look_at(centre + step);
      }
      moved = moved || best != type.trade_off;
      type.trade_off = best;
      Put(type,
          DraftOfConvolution(*type.attribute, FitConvolutionWithTotal(*type.attribute, best)));
    }
    return moved;
  }

  double SearchBySecants() {
    struct Point {
      double trade_off;
      double imbalance;
    };
    std::vector<std::optional<Point>> before(types_.size());
    double least_loss = std::numeric_limits<double>::infinity();
    std::vector<double> best;
    for (const BasisType& type : types_) best.push_back(type.trade_off);
    for (int round = 0; round < kSearchRounds; ++round) {
      for (BasisType& type : types_) {
        if (type.is_given()) continue;
        Put(type,
            Draft(type, type.Solve(type.trade_off, kSearchTolerance,
                                   type.is_large() ? kLargeIterations : kSearchIterations, false)));
      }
      const BasisProblem::Outcome outcome = problem_.solve(bases_);
      if (outcome.loss < least_loss) {
        least_loss = outcome.loss;
        for (size_t t = 0; t < types_.size(); ++t) best[t] = types_[t].trade_off;
      }
      const std::vector<Sensitivity> by_class =
          SensitivityToClasses(problem_, bases_, outcome.weight);
      bool balanced = true;
      for (size_t t = 0; t < types_.size(); ++t) {
        BasisType& type = types_[t];
        if (type.is_given()) continue;
        const ResidualBasis& basis = bases_[static_cast<size_t>(type.classes.front())];
        Sensitivity by;
        for (const int c : type.classes) {
          by.rho += by_class[static_cast<size_t>(c)].rho;
          by.s += by_class[static_cast<size_t>(c)].s;
        }
        if (!(by.rho > 0) || !(by.s > 0)) continue;  // the workload never asks for it
        const double rho = basis.privacy_cost * basis.weighted_mean.residual;
        const double wanted = PortableLog((by.rho / rho) / (by.s / basis.weighted_mean.constant));
        const double imbalance = Logit(1 - basis.privacy_cost) - wanted;
        if (std::fabs(imbalance) > kBalanced) balanced = false;
        double slope = kFirstSlope;
        if (before[t] && before[t]->trade_off != type.trade_off) {
          slope = (imbalance - before[t]->imbalance) / (type.trade_off - before[t]->trade_off);
          slope = std::max(slope, 0.05);
        }
        before[t] = Point{type.trade_off, imbalance};
        const double step = std::clamp(-imbalance / slope, -3.0, 3.0);
        type.trade_off = std::clamp(type.trade_off + step, kLeastTradeOff, kMostTradeOff);
      }
      if (balanced) break;
    }
    for (size_t t = 0; t < types_.size(); ++t) types_[t].trade_off = best[t];
    return least_loss;
  }

  double SearchByLoss() {
    const auto at = [&](size_t t, int sixteenth) -> const ResidualBasis& {
      std::map<int, ResidualBasis>& known = known_[types_[t].attribute];
      auto place = known.find(sixteenth);
      if (place == known.end()) {
        BasisType& type = types_[t];
        const Strategy strategy =
            type.Solve(kMaxStep * sixteenth, kMaxSearchTolerance, kSearchIterations, false);
        place = known.emplace(sixteenth, Draft(type, strategy)).first;
      }
      return place->second;
    };
    std::vector<int> sixteenth;
    for (size_t t = 0; t < types_.size(); ++t) {
      sixteenth.push_back(static_cast<int>(std::lround(types_[t].trade_off / kMaxStep)));
      if (!types_[t].is_given()) Put(types_[t], at(t, sixteenth[t]));
    }
    double least_loss = problem_.solve(bases_).loss;
    for (const int step : {24, 12, 4, 1}) {
      for (int sweep = 0; sweep < 3; ++sweep) {
        bool moved = false;
        for (size_t t = 0; t < types_.size(); ++t) {
          if (types_[t].is_given()) continue;
          for (const int direction : {1, -1}) {
            for (;;) {
              const int trial = sixteenth[t] + direction * step;
              if (trial < kLeastMaxStep || trial > kMostMaxStep) break;
              Put(types_[t], at(t, trial));
              const double loss = problem_.solve(bases_).loss;
              if (!(loss < least_loss * (1 - 1e-6))) break;
              least_loss = loss;
              sixteenth[t] = trial;
              moved = true;
            }
          }
          Put(types_[t], at(t, sixteenth[t]));
        }
        if (!moved) break;
      }
    }
    for (size_t t = 0; t < types_.size(); ++t) types_[t].trade_off = kMaxStep * sixteenth[t];
    return least_loss;
  }

  // Whether that scale is fine enough for a basis at all.
  bool PutRounded(int scale_bits) {
    for (const BasisType& type : types_) {
      const std::optional<ResidualBasis> basis = RoundedTo(scale_bits, type);
      if (!basis) return false;
      Put(type, *basis);
    }
    return true;
  }

  std::vector<ResidualBasis> Rounded() {
    const double exact_loss = problem_.solve(bases_).loss;
    size_t largest_order = 1;
    for (int64_t j = 0; j < problem_.workload->orbits.size(); ++j) {
      largest_order = std::max(largest_order, problem_.workload->orbits[j].size());
    }
    const int roomy_bits = kBitsForBases / static_cast<int>(std::min<size_t>(largest_order, 96));
    // An attempt with a large attribute takes seconds.
    const bool large = std::any_of(types_.begin(), types_.end(), [](const BasisType& type) {
      return type.attribute->size > kLargeAttribute;
    });
    const int first_bits =
        large ? std::clamp(roomy_bits, kLeastScaleBits, kLargeScaleBits) : kLeastScaleBits;
    for (int bits = first_bits;;) {
      const double goal = bits < roomy_bits ? kRoundingGoal : kRoundingLoss;
      double excess = std::numeric_limits<double>::infinity();
      if (PutRounded(bits)) excess = problem_.solve(bases_).loss / exact_loss - 1;
      if (excess <= goal || bits == kMostScaleBits) return bases_;
      // The excess falls with the square of the scale, about.
      const double missing = std::min(std::floor(std::log2(excess / goal) / 2), 8.0);
      bits = std::min(kMostScaleBits, bits + std::clamp(static_cast<int>(missing), 1, 8));
    }
  }

  const BasisProblem& problem_;
  std::vector<BasisType> types_;
  // Of kMax: drafts by trade-off in steps of kMaxStep, which do not depend on the other attributes.
  std::map<const Attribute*, std::map<int, ResidualBasis>> known_;
  std::vector<ResidualBasis> bases_;
};

}  // namespace

std::vector<ResidualBasis> ChooseBases(const BasisProblem& problem) {
  return Search(problem).Run();
}

}  // namespace residua
