#include "residua/select/choose_bases.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>

#include "residua/base/portable_math.h"
#include "residua/base/stop.h"
#include "residua/basis/convolution/convolution_draft.h"
#include "residua/basis/convolution/convolution_fit.h"
#include "residua/basis/convolution/convolution_matrix.h"
#include "residua/basis/strategy_solver.h"
#include "residua/model/closure.h"
#include "residua/select/basis_type.h"
#include "residua/select/solvers/variance_matrix.h"
#include "residua/select/whole_problem_weights.h"

namespace residua {
namespace {

// While searching, a strategy this near to its optimum has a loss right to a tenth of this.
constexpr double kSearchTolerance = 1e-4;
constexpr double kMaxSearchTolerance = 3e-4;
// The final strategy.
constexpr double kFinalTolerance = 1e-6;
// The trade-off for the largest variance is searched in steps of 1/16. The loss of many attributes
// is steep: steps of 1/4 lost 0.6 % on the sizes of Adult.
constexpr double kMaxStep = 1.0 / 16;
constexpr int kCoarsestMaxStep = 24;
constexpr int kLeastMaxStep = -32;
constexpr int kMostMaxStep = 160;
// How much log(c / (1 - c)) moves with u, roughly, before a secant is known.
constexpr double kFirstSlope = 0.35;
// An error of this size in log(c / (1 - c)) changes the loss by less than 1e-5 of it.
constexpr double kBalanced = 0.01;
constexpr int kSearchRounds = 12;
// Classes with the same queries have bases of their own if that gains this much of the loss.
constexpr double kWorthSplitting = 1e-4;
// Another valley of the loss is worth going to where it gains twice what losses may be wrong by.
constexpr double kWorthMoving = 2e-4;
// A draft of so many cells takes milliseconds, and its best trade-off is nearly that of more cells.
constexpr int64_t kDraftCells = 4096;
// Scales of integer bases that are tried.
constexpr int kLeastScaleBits = 6;
// Prefix sums and ranges come to 13, whatever their number of cells.
constexpr int kLargeScaleBits = 12;
// Of the 127 bits of a measured integer, 31 are left to the number of rows.
constexpr int kBitsForBases = 96;

double Logit(double share) { return PortableLog(share / (1 - share)); }

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

// That of an attribute of fewer cells in its place: the numbers of FitConvolutionWithTotal move
// slowly with the size, and so does the best trade-off.
ResidualBasis ConvolutionDraft(const Attribute& attribute, double trade_off) {
  Attribute fewer = attribute;
  fewer.size = std::min(attribute.size, kDraftCells);
  ResidualBasis draft = DraftOfConvolution(fewer, FitConvolutionWithTotal(fewer, trade_off));
  draft.size = attribute.size;
  draft.num_answers = NumAnswers(attribute);
  return draft;
}

class Search {
 public:
  explicit Search(const BasisProblem& problem) : problem_(problem), types_(GroupTypes(problem)) {
    const AttributeClasses& classes = problem.workload->classes;
    for (const auto& members : classes.members) {
      bases_.push_back(IdentityBasis((*problem.domain)[members.front()]));
    }
    for (const BasisType& type : types_) {
      if (type.is_convolution) {
        Put(type, ConvolutionDraft(*type.attribute, type.trade_off));
      } else if (type.is_given()) {
        Put(type, *RoundedTo(kMostScaleBits, type));
      }
    }
  }

  std::vector<ResidualBasis> Run() {
    if (types_.empty()) return bases_;
    if (problem_.kind == BasisKind::kOblique) {
      double shared_loss = SearchTradeOffs();
      if (ChooseConvolutions()) shared_loss = SearchTradeOffs();
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
    if (problem_.goal == StrategyGoal::kMax && problem_.kind == BasisKind::kOblique) {
      types_ = WeighedByWholeProblem(problem_, types_, bases_);
    }
    for (BasisType& type : types_) {
      if (type.is_given()) continue;
      const bool exact = problem_.goal == StrategyGoal::kMean && !type.is_large();
      const Strategy strategy = type.Solve(
          type.trade_off, exact ? kFinalTolerance : kLargeTolerance, type.final_steps(), true);
      Put(type, Draft(type, strategy));
      type.on_tree = type.tree_solver != nullptr ? strategy.tree_precision : strategy.left_over;
      type.shares = strategy.tree_share;
      if (strategy.gram.size() == 0) continue;
      type.factor = FactorOf(type, strategy);
    }
    return Rounded();
  }

 private:
  void Put(const BasisType& type, const ResidualBasis& basis) { PutBasis(type, basis, &bases_); }

  // From the types' trade-offs, and never to a greater loss. Gives the least one.
  double SearchTradeOffs() {
    return problem_.goal == StrategyGoal::kMean ? SearchBySecants() : SearchByLoss();
  }

  // Bases of long attributes, by drafts of their trade-offs. Whether there are any.
  bool ChooseConvolutions() {
    const auto count = std::count_if(types_.begin(), types_.end(),
                                     [](const BasisType& type) { return type.is_convolution; });
    // The best trade-off of each depends little on that of others.
    for (int sweep = 0; sweep < std::min<int64_t>(count, 2); ++sweep) {
      for (BasisType& type : types_) {
        if (type.is_convolution) SearchConvolution(&type);
      }
    }
    for (BasisType& type : types_) {
      if (!type.is_convolution) continue;
      type.fixed = std::make_shared<const ResidualBasis>(BasisFromConvolution(
          *type.attribute, FitConvolutionWithTotal(*type.attribute, type.trade_off)));
      Put(type, *type.fixed);
    }
    return count > 0;
  }

  // By the loss, first among whole trade-offs and then in smaller steps.
  void SearchConvolution(BasisType* type) {
    double best = type->trade_off;
    ResidualBasis best_draft;
    double least_loss = std::numeric_limits<double>::infinity();
    const double most = MostConvolutionTradeOff(*type->attribute);
    const auto look_at = [&](double trade_off) {
      if (trade_off < 0 || trade_off > most) return;
      CheckNotStopped(problem_.stop);
      ResidualBasis draft = ConvolutionDraft(*type->attribute, trade_off);
      Put(*type, draft);
      const double loss = problem_.solve(bases_).loss;
      if (!(loss < least_loss)) return;
      least_loss = loss;
      best = trade_off;
      best_draft = std::move(draft);
    };
    for (double at = 0; at <= most; ++at) look_at(at);
    for (const double step : {0.5, 0.25, 0.125}) {
      const double centre = best;
      look_at(centre - step);
      look_at(centre + step);
    }
    type->trade_off = best;
    Put(*type, best_draft);
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
            Draft(type, type.Solve(type.trade_off, kSearchTolerance, type.search_steps(), false)));
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
        type.trade_off = std::clamp(type.trade_off + step, kLeastTradeOff, type.MostTradeOff());
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
            type.Solve(kMaxStep * sixteenth, kMaxSearchTolerance, kSearchSteps, false);
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
    const auto descend = [&](std::initializer_list<int> steps) {
      for (const int step : steps) {
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
    };
    const std::vector<int> first = sixteenth;
    descend({kCoarsestMaxStep, 12, 4, 1});
    // The loss may have another valley below the start, which was passed by on the way up.
    bool found = false;
    for (size_t t = 0; t < types_.size(); ++t) {
      const int below = first[t] - kCoarsestMaxStep;
      if (types_[t].is_given() || sixteenth[t] <= first[t] || below < kLeastMaxStep) continue;
      Put(types_[t], at(t, below));
      const double loss = problem_.solve(bases_).loss;
      if (loss < least_loss * (1 - kWorthMoving)) {
        least_loss = loss;
        sixteenth[t] = below;
        found = true;
      }
      Put(types_[t], at(t, sixteenth[t]));
    }
    if (found) descend({12, 4, 1});
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
