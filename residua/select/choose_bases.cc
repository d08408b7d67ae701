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
#include "residua/select/solvers/answer_dual.h"
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
// The same of large attributes, and where a search follows.
constexpr double kLargeTolerance = 2e-5;
constexpr int kLargeIterations = 20;
// Of trees of groups, whose steps are plain and take linear time.
constexpr int kTreeSearchIterations = 200;
constexpr int kTreeFinalIterations = 600;
// Bracket of the trade-off u: beyond, privacy costs differ from their limits by less than 1e-3.
constexpr double kLeastTradeOff = -12;
constexpr double kMostTradeOff = 12;
// The same for the largest variance, in steps of 1/16. The loss of many attributes is steep: steps
// of 1/4 lost 0.6 % on the sizes of Adult.
constexpr double kMaxStep = 1.0 / 16;
constexpr int kCoarsestMaxStep = 24;
constexpr int kLeastMaxStep = -32;
constexpr int kMostMaxStep = 160;
// How much log(c / (1 - c)) moves with u, roughly, before a secant is known.
constexpr double kFirstSlope = 0.35;
// An error of this size in log(c / (1 - c)) changes the loss by less than 1e-5 of it.
constexpr double kBalanced = 0.01;
constexpr int kSearchRounds = 8;
// Classes with the same queries have bases of their own if that gains this much of the loss.
constexpr double kWorthSplitting = 1e-4;
// Weights of the whole problem are looked for where its variances have no more terms than this.
// Beyond, bases whose variances are all nearly alike would cost minutes in the search for the noise.
constexpr double kMostTerms = 1 << 15;
// Rounds of that, how often the loss is computed, and when it stands still. The weights are taken
// where they gain twice what losses may be wrong by.
constexpr int kWeightRounds = 120;
constexpr int kRoundsToLoss = 10;
constexpr double kStandsStill = 5e-5;
constexpr double kWorthWeighing = 2e-4;
// Steps of a strategy in each round.
constexpr int kStepsOfRound = 3;
// No answer starts with less than this part of the largest weight, of few answers.
constexpr double kLeastStart = 0.05;
// How far the trade-off moves to where it should be, and the least e^u it may have.
constexpr double kTradeOffStep = 0.5;
constexpr double kLeastExponential = 0.01;
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
    if (problem_.goal == StrategyGoal::kMax && problem_.kind == BasisKind::kOblique) {
      WeighByWholeProblem();
    }
    for (BasisType& type : types_) {
      if (type.is_convolution) {
        type.fixed = std::make_shared<const ResidualBasis>(BasisFromConvolution(
            *type.attribute, FitConvolutionWithTotal(*type.attribute, type.trade_off)));
        Put(type, *type.fixed);
      }
      if (type.is_given()) continue;
      const bool exact = problem_.goal == StrategyGoal::kMean && !type.is_large();
      const int most = type.is_large()               ? kLargeIterations
                       : type.tree_solver != nullptr ? kTreeFinalIterations
                                                     : kFinalIterations;
      const Strategy strategy =
          type.Solve(type.trade_off, exact ? kFinalTolerance : kLargeTolerance, most, true);
      Put(type, Draft(type, strategy));
      type.on_tree = type.tree_solver != nullptr ? strategy.tree_precision : strategy.left_over;
      type.shares = strategy.tree_share;
      if (type.tree_solver != nullptr) continue;
      type.factor = FactorOf(type, strategy);
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
        const int most = type.is_large()               ? kLargeIterations
                         : type.tree_solver != nullptr ? kTreeSearchIterations
                                                       : kSearchIterations;
        Put(type, Draft(type, type.Solve(type.trade_off, kSearchTolerance, most, false)));
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
      if (loss < least_loss * (1 - kWorthWeighing)) {
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

  // Of kMax, from the trade-offs that were found with the attributes' own weights: weights of the
  // dual of the whole problem, where they gain. The dual's weights, the weights and trade-off of
  // each type, and the multipliers of its cells all move at once.
  //
  // With the noise held fixed, the weighted sum of all variances has sum_q alpha_q a[q] +
  // beta_q b[q] of a type, alpha and beta its prices. Where they are in proportion, the best basis
  // for that is the one of StrategySolver for weights alpha, and a trade-off that follows from both:
  // docs/oblique_basis.md, Largest variance.
  void WeighByWholeProblem() {
    std::vector<BasisType> weighed = types_;
    const std::vector<ResidualBasis> own_bases = bases_;
    std::vector<ClassVariances> classes;
    std::vector<Eigen::VectorXd> start;
    for (const ResidualBasis& basis : bases_) {
      const auto count = static_cast<Eigen::Index>(basis.weighted_peaks.size());
      classes.push_back({basis.privacy_cost, Eigen::VectorXd(count), Eigen::VectorXd(count)});
      for (Eigen::Index q = 0; q < count; ++q) {
        classes.back().residual(q) = basis.weighted_peaks[static_cast<size_t>(q)].residual;
        classes.back().constant(q) = basis.weighted_peaks[static_cast<size_t>(q)].constant;
      }
      start.push_back(Eigen::VectorXd::Ones(count));
    }
    const auto moves = [](const BasisType& type) {
      return type.solver != nullptr && !type.is_large();
    };
    std::vector<int64_t> num_answers;
    for (const Eigen::VectorXd& of_class : start) num_answers.push_back(of_class.size());
    for (const BasisType& type : weighed) {
      if (!moves(type)) continue;
      for (const int c : type.classes) {
        num_answers[static_cast<size_t>(c)] = type.space->importance.size();
      }
    }
    if (AnswerDual::NumTerms(*problem_.workload, num_answers) > kMostTerms) return;
    const auto use = [&](const BasisType& type, const Strategy& strategy) {
      for (const int c : type.classes) {
        classes[static_cast<size_t>(c)] = {strategy.privacy_cost,
                                           strategy.residual_variance.cwiseMax(0.0),
                                           strategy.constant_variance};
      }
    };
    for (BasisType& type : weighed) {
      if (!moves(type)) continue;
      type.solver = std::make_shared<StrategySolver>(*type.solver);
      const Strategy strategy =
          type.Solve(type.trade_off, kLargeTolerance, kFinalIterations, false);
      use(type, strategy);
      Put(type, Draft(type, strategy));
      Eigen::VectorXd weight = type.solver->query_weights().cwiseQuotient(type.space->importance);
      const double least = std::min(kLeastStart, 1 / static_cast<double>(weight.size()));
      weight = weight.cwiseMax(weight.maxCoeff() * least);
      for (const int c : type.classes) start[static_cast<size_t>(c)] = weight;
    }
    double least_loss = problem_.solve(bases_).loss * (1 - kWorthWeighing);
    double loss_before = std::numeric_limits<double>::infinity();
    std::vector<BasisType> best;
    AnswerDual dual(*problem_.workload, *problem_.mechanisms, problem_.importance, start);
    for (int round = 1; round <= kWeightRounds; ++round) {
      const std::vector<AnswerPrices> prices = dual.Raise(classes);
      const bool at_loss = round % kRoundsToLoss == 0;
      for (BasisType& type : weighed) {
        if (!moves(type)) continue;
        AnswerPrices price = prices[static_cast<size_t>(type.classes.front())];
        for (size_t k = 1; k < type.classes.size(); ++k) {
          price.residual += prices[static_cast<size_t>(type.classes[k])].residual;
          price.constant += prices[static_cast<size_t>(type.classes[k])].constant;
        }
        if (!(price.residual.sum() > 0)) continue;  // the workload never asks for it
        Reweigh(price, classes[static_cast<size_t>(type.classes.front())], round == 1, &type);
        const Strategy strategy = type.Solve(type.trade_off, kLargeTolerance,
                                             at_loss ? kSearchIterations : kStepsOfRound, false);
        use(type, strategy);
        if (at_loss) Put(type, Draft(type, strategy));
      }
      if (!at_loss) continue;
      const double loss = problem_.solve(bases_).loss;
      if (loss < least_loss) {
        least_loss = loss;
        best = weighed;
        for (BasisType& type : best) {
          if (moves(type)) type.solver = std::make_shared<StrategySolver>(*type.solver);
        }
      }
      if (std::fabs(loss / loss_before - 1) < kStandsStill) break;
      loss_before = loss;
    }
    bases_ = own_bases;
    if (!best.empty()) types_ = std::move(best);
  }

  // The weights of a type at these prices, and its trade-off: with s = sum alpha b, rho =
  // privacy_cost sum alpha a and c / (1 - c) = s / (privacy_cost sum beta b) it is
  // eta = (c / (1 - c))^2 rho - s.
  static void Reweigh(const AnswerPrices& price, const ClassVariances& now, bool first,
                      BasisType* type) {
    type->answer_weight = price.residual / price.residual.sum();
    type->solver->WeighAnswers(type->answer_weight);
    const double odds =
        price.residual.dot(now.constant) / (now.privacy_cost * price.constant.dot(now.constant));
    const double eta = odds * odds * now.privacy_cost * type->answer_weight.dot(now.residual) -
                       type->answer_weight.dot(now.constant);
    const double wanted =
        PortableLog(std::max(kLeastExponential, 1 + eta * type->solver->height()));
    const double step = first ? 1 : kTradeOffStep;
    type->trade_off = std::clamp(type->trade_off + step * (wanted - type->trade_off),
                                 kLeastTradeOff, kMostTradeOff);
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
