#include "residua/select/lower_bound.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "residua/base/error.h"
#include "residua/basis/dense_algebra.h"
#include "residua/basis/query_matrix.h"
#include "residua/basis/residual_basis.h"
#include "residua/model/closure.h"
#include "residua/model/symmetry.h"
#include "residua/select/objective_rows.h"
#include "residua/select/plan_errors.h"
#include "residua/select/solvers/closed_form.h"
#include "residua/select/solvers/convex_loss.h"
#include "residua/select/solvers/max_variance.h"
#include "residua/select/solvers/variance_matrix.h"

namespace residua {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Any trade-off gives a bound; beyond these the best one found hardly moves.
constexpr double kTradeOffs[] = {0, 1.5, 3, 5};
// Steps between the two extreme directions y.
constexpr int kNumDirections = 8;
// The weights need not be at the fixed point.
constexpr int kWeightSteps = 15;
constexpr int kPasses = 2;

// Eigenvalues below this are rounding errors; leaving one out only lowers the bound.
double Negligible(const VectorXd& eigenvalues) {
  return 4 * static_cast<double>(eigenvalues.size()) * std::numeric_limits<double>::epsilon() *
         eigenvalues.cwiseAbs().maxCoeff();
}

// tr G^1/2: the sum of the singular values of any M with M^T M = G.
double SumOfSingularValues(const MatrixXd& gram) {
  const VectorXd eigenvalues = EigenvaluesOf(gram);
  const double least = Negligible(eigenvalues);
  double sum = 0;
  for (const double value : eigenvalues) {
    if (value > least) sum += std::sqrt(value);
  }
  return sum;
}

MatrixXd PseudoInverse(const MatrixXd& gram) {
  const SymmetricEigen eigen = EigenOf(gram);
  const double least = Negligible(eigen.values);
  VectorXd inverse = eigen.values;
  for (double& value : inverse) value = value > least ? 1 / value : 0;
  return ProductTransposed(eigen.vectors * inverse.asDiagonal(), eigen.vectors);
}

// (rho, s) of one lambda, for every direction y = M c / |M c| between c = q, which is best for s,
// and c = q - H^+ g, which takes nothing from rho; H and g are M^T M's blocks beside q.
void AddSplits(const MatrixXd& gram, const VectorXd& lambda, bool in_every_table,
               std::vector<QueryVariance>* splits) {
  const VectorXd q = lambda.cwiseSqrt();
  const MatrixXd g = q.asDiagonal() * gram * q.asDiagonal();
  if (in_every_table) {
    const double sum = SumOfSingularValues(g);
    splits->push_back({sum * sum, 0});
    return;
  }
  const VectorXd gq = Product(g, q);
  const double along = q.dot(gq);
  const MatrixXd beside = g - q * gq.transpose() - gq * q.transpose() + along * q * q.transpose();
  const VectorXd from_along = gq - along * q;
  VectorXd far = q - Product(PseudoInverse(beside), from_along);
  far /= std::sqrt(std::max(far.dot(Product(g, far)), std::numeric_limits<double>::min()));
  const VectorXd near = q / std::sqrt(along);
  for (int step = 0; step <= kNumDirections; ++step) {
    const double t = static_cast<double>(step) / kNumDirections;
    const VectorXd c = t * near + (1 - t) * far;
    VectorXd row = Product(g, c);  // M^T y
    const double norm2 = c.dot(row);
    if (!(norm2 > 0)) continue;
    row /= std::sqrt(norm2);
    const double constant = row.dot(q);
    row -= constant * q;
    const double sum = SumOfSingularValues(beside - row * row.transpose());
    if (std::isfinite(sum)) splits->push_back({sum * sum, constant * constant});
  }
}

// Those that no other exceeds in both.
std::vector<QueryVariance> LargestSplits(std::vector<QueryVariance> splits) {
  std::sort(splits.begin(), splits.end(), [](const QueryVariance& a, const QueryVariance& b) {
    return a.residual > b.residual || (a.residual == b.residual && a.constant > b.constant);
  });
  std::vector<QueryVariance> kept;
  for (const QueryVariance& split : splits) {
    if (kept.empty() || split.constant > kept.back().constant) kept.push_back(split);
  }
  return kept;
}

// What the attribute's (rho, s) may be, summed over its answers.
std::vector<QueryVariance> Splits(const Attribute& attribute, bool in_every_table) {
  const auto n = static_cast<double>(attribute.size);
  if (attribute.queries == QueryKind::kIdentity) {
    // lambda = 1/n and y = q: nothing is lost.
    return {in_every_table ? QueryVariance{n, 0} : QueryVariance{(n - 1) * (n - 1) / n, 1 / n}};
  }
  const MatrixXd gram = QueryMatrix(attribute).Gram();
  VectorXd lambda = VectorXd::Constant(attribute.size, 1 / n);
  std::vector<QueryVariance> splits;
  AddSplits(gram, lambda, in_every_table, &splits);
  // The multipliers of the best strategy for W^T W + eta 1 1^T, as in StrategySolver.
  const double height = PseudoInverse(gram).sum();
  for (const double trade_off : kTradeOffs) {
    const double eta = height > 0 ? (std::exp(trade_off) - 1) / height : 0;
    const MatrixXd lifted = gram.array() + eta;
    for (int step = 0; step < kWeightSteps; ++step) {
      const VectorXd root = lambda.cwiseSqrt();
      const SymmetricEigen eigen = EigenOf(root.asDiagonal() * lifted * root.asDiagonal());
      const VectorXd values = eigen.values.cwiseMax(0).cwiseSqrt();
      lambda = Product(eigen.vectors.cwiseAbs2(), values);
      lambda /= lambda.sum();
    }
    AddSplits(gram, lambda, in_every_table, &splits);
    if (in_every_table) break;  // only the multipliers at eta = 0 are of use then
  }
  return LargestSplits(std::move(splits));
}

// A basis as far as the closed form sees it.
ResidualBasis BasisOf(const Attribute& attribute, const QueryVariance& split) {
  ResidualBasis basis;
  basis.size = attribute.size;
  basis.num_answers = NumAnswers(attribute);
  basis.privacy_cost = 1;
  const auto answers = static_cast<double>(basis.num_answers);
  basis.mean = {split.residual / answers, split.constant / answers};
  return basis;
}

// Attributes of the same queries and place in the workload share their candidates and choice.
struct Kind {
  int first_class = 0;
  std::vector<int> classes;
  std::vector<QueryVariance> splits;
};

struct BoundProblem {
  WorkloadOrbits workload;
  MultisetTable mechanisms;
  std::vector<double> cost;
  std::vector<Kind> kinds;
};

bool InEveryTable(const WorkloadOrbits& workload, int attribute_class) {
  const size_t size = workload.classes.members[static_cast<size_t>(attribute_class)].size();
  for (int64_t j = 0; j < workload.orbits.size(); ++j) {
    const auto orbit = workload.orbits[j];
    if (static_cast<size_t>(std::count(orbit.begin(), orbit.end(), attribute_class)) != size) {
      return false;
    }
  }
  return true;
}

BoundProblem MakeProblem(const Domain& domain, const Workload& workload) {
  BoundProblem problem;
  problem.workload = FindSymmetry(domain, workload);
  problem.mechanisms = Closure(problem.workload.orbits);
  for (int64_t k = 0; k < problem.mechanisms.size(); ++k) {
    problem.cost.push_back(OrbitSize(problem.workload.classes, problem.mechanisms[k]).get_d());
  }
  std::vector<bool> in_every_table;
  for (int c = 0; c < problem.workload.classes.size(); ++c) {
    const Attribute& attribute =
        domain[problem.workload.classes.members[static_cast<size_t>(c)].front()];
    const bool every = InEveryTable(problem.workload, c);
    const auto same = std::find_if(problem.kinds.begin(), problem.kinds.end(), [&](const Kind& k) {
      const auto first = static_cast<size_t>(k.first_class);
      return in_every_table[first] == every &&
             SameQueries(domain[problem.workload.classes.members[first].front()], attribute);
    });
    in_every_table.push_back(every);
    if (same != problem.kinds.end()) {
      same->classes.push_back(c);
    } else {
      problem.kinds.push_back({c, {c}, Splits(attribute, every)});
    }
  }
  return problem;
}

double SumBound(const BoundProblem& problem, const std::vector<ResidualBasis>& bases,
                std::span<const double> weight) {
  const VarianceMatrix means =
      MeanVarianceMatrix(problem.workload.orbits, problem.mechanisms, bases);
  return MinimizeSum(means, problem.cost, weight, 1).lower_bound;
}

}  // namespace

double LeastLossBound(const Domain& domain, const Workload& workload, const Objective& objective) {
  CheckWorkload(domain, workload);
  const BoundProblem problem = MakeProblem(domain, workload);
  std::vector<ResidualBasis> bases(static_cast<size_t>(problem.workload.classes.size()));
  const auto set = [&](const Kind& kind, const QueryVariance& split) {
    for (const int c : kind.classes) {
      const auto index = static_cast<size_t>(c);
      bases[index] = BasisOf(domain[problem.workload.classes.members[index].front()], split);
    }
  };
  for (const Kind& kind : problem.kinds) set(kind, kind.splits[kind.splits.size() / 2]);

  // Chosen by the sum, one kind after another; what is chosen only affects how good the bound is.
  const TableWeights weights = WeighTables(problem.workload, bases, objective.weighting);
  std::vector<double> total = weights.total_importance;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const Kind& kind : problem.kinds) {
      if (kind.splits.size() == 1) continue;
      std::optional<QueryVariance> best;
      double best_bound = 0;
      for (const QueryVariance& split : kind.splits) {
        set(kind, split);
        const double bound = SumBound(problem, bases, total);
        if (!best || bound > best_bound) {
          best = split;
          best_bound = bound;
        }
      }
      set(kind, *best);
    }
  }

  if (objective.kind == Objective::Kind::kSumVariance) return SumBound(problem, bases, total);
  const VarianceMatrix means =
      MeanVarianceMatrix(problem.workload.orbits, problem.mechanisms, bases);
  if (objective.kind == Objective::Kind::kMaxVariance) {
    return MinimizeMax(means, problem.cost, weights.importance, 1, {}).lower_bound;
  }
  return MinimizeConvex(means, problem.cost, PNormLoss(total, objective.p), 1, {}).lower_bound;
}

}  // namespace residua
