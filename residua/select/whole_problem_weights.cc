#include "residua/select/whole_problem_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "residua/base/portable_math.h"
#include "residua/select/solvers/answer_dual.h"

namespace residua {
namespace {

// Weights are looked for where the variances of the whole problem have no more terms than this.
// Beyond, bases whose variances are all nearly alike would cost minutes in the search for the
// noise.
constexpr double kMostTerms = 1 << 15;
// Rounds, how often the loss is computed, and when it stands still. The weights are taken where
// they gain twice what losses may be wrong by.
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

bool CanWeigh(const BasisType& type) { return type.solver != nullptr && !type.is_large(); }

// The weights of a type at these prices, and its trade-off: with s = sum alpha b, rho =
// privacy_cost sum alpha a and c / (1 - c) = s / (privacy_cost sum beta b) it is
// eta = (c / (1 - c))^2 rho - s.
void Reweigh(const AnswerPrices& price, const ClassVariances& now, bool first, BasisType* type) {
  type->Weigh(price.residual / price.residual.sum());
  const double odds =
      price.residual.dot(now.constant) / (now.privacy_cost * price.constant.dot(now.constant));
  const double eta = odds * odds * now.privacy_cost * type->answer_weight.dot(now.residual) -
                     type->answer_weight.dot(now.constant);
  const double wanted = PortableLog(std::max(kLeastExponential, 1 + eta * type->solver->height()));
  const double step = first ? 1 : kTradeOffStep;
  type->trade_off = std::clamp(type->trade_off + step * (wanted - type->trade_off), kLeastTradeOff,
                               kMostTradeOff);
}

}  // namespace

std::vector<BasisType> WeighedByWholeProblem(const BasisProblem& problem,
                                             const std::vector<BasisType>& types,
                                             std::vector<ResidualBasis> bases) {
  std::vector<BasisType> weighed = types;
  std::vector<ClassVariances> classes;
  std::vector<Eigen::VectorXd> start;
  for (const ResidualBasis& basis : bases) {
    const auto count = static_cast<Eigen::Index>(basis.weighted_peaks.size());
    classes.push_back({basis.privacy_cost, Eigen::VectorXd(count), Eigen::VectorXd(count)});
    for (Eigen::Index q = 0; q < count; ++q) {
      classes.back().residual(q) = basis.weighted_peaks[static_cast<size_t>(q)].residual;
      classes.back().constant(q) = basis.weighted_peaks[static_cast<size_t>(q)].constant;
    }
    start.push_back(Eigen::VectorXd::Ones(count));
  }
  std::vector<int64_t> num_answers;
  for (const Eigen::VectorXd& of_class : start) num_answers.push_back(of_class.size());
  for (const BasisType& type : weighed) {
    if (!CanWeigh(type)) continue;
    for (const int c : type.classes) {
      num_answers[static_cast<size_t>(c)] = type.space->importance.size();
    }
  }
  if (AnswerDual::NumTerms(*problem.workload, num_answers) > kMostTerms) return types;
  const auto use = [&](const BasisType& type, const Strategy& strategy) {
    for (const int c : type.classes) {
      classes[static_cast<size_t>(c)] = {strategy.privacy_cost,
                                         strategy.residual_variance.cwiseMax(0.0),
                                         strategy.constant_variance};
    }
  };
  for (BasisType& type : weighed) {
    if (!CanWeigh(type)) continue;
    type.solver = std::make_shared<StrategySolver>(*type.solver);
    const Strategy strategy = type.Solve(type.trade_off, kLargeTolerance, kFinalSteps, false);
    use(type, strategy);
    PutBasis(type, Draft(type, strategy), &bases);
    Eigen::VectorXd weight = type.solver->query_weights().cwiseQuotient(type.space->importance);
    const double least = std::min(kLeastStart, 1 / static_cast<double>(weight.size()));
    weight = weight.cwiseMax(weight.maxCoeff() * least);
    for (const int c : type.classes) start[static_cast<size_t>(c)] = weight;
  }
  double least_loss = problem.solve(bases).loss * (1 - kWorthWeighing);
  double loss_before = std::numeric_limits<double>::infinity();
  std::vector<BasisType> best;
  AnswerDual dual(*problem.workload, *problem.mechanisms, problem.importance, start);
  for (int round = 1; round <= kWeightRounds; ++round) {
    const std::vector<AnswerPrices> prices = dual.Raise(classes);
    const bool at_loss = round % kRoundsToLoss == 0;
    for (BasisType& type : weighed) {
      if (!CanWeigh(type)) continue;
      AnswerPrices price = prices[static_cast<size_t>(type.classes.front())];
      for (size_t k = 1; k < type.classes.size(); ++k) {
        price.residual += prices[static_cast<size_t>(type.classes[k])].residual;
        price.constant += prices[static_cast<size_t>(type.classes[k])].constant;
      }
      if (!(price.residual.sum() > 0)) continue;  // the workload never asks for it
      Reweigh(price, classes[static_cast<size_t>(type.classes.front())], round == 1, &type);
      const Strategy strategy = type.Solve(type.trade_off, kLargeTolerance,
                                           at_loss ? kSearchSteps : kStepsOfRound, false);
      use(type, strategy);
      if (at_loss) PutBasis(type, Draft(type, strategy), &bases);
    }
    if (!at_loss) continue;
    const double loss = problem.solve(bases).loss;
    if (loss < least_loss) {
      least_loss = loss;
      best = weighed;
      for (BasisType& type : best) {
        if (CanWeigh(type)) type.solver = std::make_shared<StrategySolver>(*type.solver);
      }
    }
    if (std::fabs(loss / loss_before - 1) < kStandsStill) break;
    loss_before = loss;
  }
  return best.empty() ? types : best;
}

}  // namespace residua
