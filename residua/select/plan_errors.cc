#include "residua/select/plan_errors.h"

#include <algorithm>
#include <cmath>

#include "residua/base/error.h"
#include "residua/basis/basis_inverse.h"
#include "residua/basis/query_matrix.h"
#include "residua/select/combined_plan.h"
#include "residua/select/objective_rows.h"

namespace residua {
namespace {

// What a table must gain alone before it is named: more than rounding the noise costs.
constexpr double kWorthNaming = 1e-3;

void AddAlone(const Plan& plan, std::vector<TableErrors>* errors) {
  const bool replaces = plan.protection.neighbours == Protection::Neighbours::kReplaceOne;
  double num_tables = 0;
  for (const TableErrors& table : *errors) {
    if (!replaces || !table.orbit.empty()) num_tables += table.num_tables;
  }
  const auto rows = static_cast<double>(plan.protection.max_rows);
  const double share = plan.pcost.get_d() / num_tables / (rows * rows);
  for (TableErrors& table : *errors) {
    if (replaces && table.orbit.empty()) {  // it costs nothing, alone or not
      table.alone_variance = table.mean_variance;
      table.weighted_alone_variance = table.weighted_variance;
      continue;
    }
    double needed = 1;
    double weighted = 1;
    bool identity = true;
    const auto over_root = [](double number, double of) {
      return of > 0 ? number / std::sqrt(of) : 0;
    };
    for (const int c : table.orbit) {
      const ResidualBasis& basis = plan.bases[static_cast<size_t>(c)];
      const QueryVariance& mean = basis.weighted_mean;
      const double cost = std::sqrt(basis.privacy_cost);
      const double root = cost * std::sqrt(mean.residual) + std::sqrt(mean.constant);
      weighted *= root * root;
      needed *= root * (cost * over_root(basis.mean.residual, mean.residual) +
                        over_root(basis.mean.constant, mean.constant));
      identity = identity && basis.is_identity();
    }
    // A row replaced moves two cells. Where one query counts both, the moves may add up.
    const double moved = !replaces ? 1 : identity ? 2 : 4;
    table.alone_variance = moved * needed / share;
    table.weighted_alone_variance = moved * weighted / share;
  }
}

void AddLevels(const Plan& plan, const WorkloadOrbits& workload, const std::vector<double>& noise,
               std::vector<TableErrors>* errors) {
  std::vector<double> variance;
  for (int c = 0; c < plan.classes.size(); ++c) {
    const ResidualBasis& basis = plan.bases[static_cast<size_t>(c)];
    for (size_t level = basis.levels.size(); level-- > 0;) {
      const VarianceMatrix means =
          LevelMeanMatrix(workload.orbits, plan.mechanisms, plan.bases, c, level);
      variance.resize(static_cast<size_t>(means.num_rows()));
      Multiply(means, noise, variance);
      const auto part = static_cast<double>(basis.levels[level].num_answers) /
                        static_cast<double>(basis.num_answers);
      for (size_t row = 0; row < variance.size(); ++row) {
        TableErrors& table = (*errors)[static_cast<size_t>(means.table[row])];
        table.levels.push_back({c, static_cast<int64_t>(level),
                                std::round(part * table.num_answers), variance[row], 0});
      }
      const VarianceMatrix peaks =
          LevelPeakMatrix(workload.orbits, plan.mechanisms, plan.bases, c, level);
      variance.resize(static_cast<size_t>(peaks.num_rows()));
      Multiply(peaks, noise, variance);
      for (size_t row = 0; row < variance.size(); ++row) {
        LevelErrors& of = (*errors)[static_cast<size_t>(peaks.table[row])].levels.back();
        of.max_variance = std::max(of.max_variance, variance[row]);
      }
    }
  }
}

template <typename Table>
void SortTables(std::vector<Table>* tables) {
  std::sort(tables->begin(), tables->end(), [](const Table& a, const Table& b) {
    return ListedBefore(a.attributes, b.attributes);
  });
}

}  // namespace

std::vector<double> NoiseVariances(const Plan& plan) {
  std::vector<double> noise;
  noise.reserve(plan.variances.size());
  for (const Rational& variance : plan.variances) noise.push_back(variance.get_d());
  return noise;
}

std::vector<TableErrors> PredictErrors(const Plan& plan) {
  if (!plan.after.empty()) return PredictErrors(WholePlan(plan));
  const WorkloadOrbits workload = OrbitsUnder(plan.domain, plan.workload, plan.classes);
  const std::vector<ResidualBasis>& bases = plan.bases;
  const TableWeights weights = WeighTables(workload, bases, Weighting::kEqual);
  const std::vector<double> noise = NoiseVariances(plan);

  std::vector<TableErrors> errors(static_cast<size_t>(workload.orbits.size()));
  const VarianceMatrix means =
      MeanVarianceMatrix(workload.orbits, plan.mechanisms, bases, AnswerCounting::kAlike);
  std::vector<double> variance(static_cast<size_t>(means.num_rows()));
  Multiply(means, noise, variance);
  for (size_t j = 0; j < errors.size(); ++j) {
    const auto orbit = workload.orbits[static_cast<int64_t>(j)];
    errors[j] = {std::vector<int>(orbit.begin(), orbit.end()),
                 weights.num_tables[j],
                 weights.num_answers[j],
                 variance[j],
                 0,
                 0,
                 variance[j],
                 0};
  }
  const bool is_weighted =
      std::any_of(plan.domain.attributes().begin(), plan.domain.attributes().end(),
                  [](const Attribute& attribute) { return !attribute.level_weights.empty(); });
  if (is_weighted) {
    Multiply(MeanVarianceMatrix(workload.orbits, plan.mechanisms, bases, AnswerCounting::kWeighted),
             noise, variance);
    for (size_t j = 0; j < errors.size(); ++j) errors[j].weighted_variance = variance[j];
  }
  const VarianceMatrix peaks =
      PeakVarianceMatrix(workload.orbits, plan.mechanisms, bases, AnswerCounting::kAlike);
  variance.resize(static_cast<size_t>(peaks.num_rows()));
  Multiply(peaks, noise, variance);
  for (size_t row = 0; row < variance.size(); ++row) {
    double& max_variance = errors[static_cast<size_t>(peaks.table[row])].max_variance;
    max_variance = std::max(max_variance, variance[row]);
  }
  AddAlone(plan, &errors);
  AddLevels(plan, workload, noise, &errors);
  return errors;
}

std::vector<ListedTable> ListTables(const Plan& plan, const std::vector<TableErrors>& errors) {
  std::vector<ListedTable> tables;
  for (const TableErrors& table : errors) {
    ForEachMember(plan.classes, table.orbit, [&](const AttributeSet& set) {
      tables.push_back({set, &table});
    });
  }
  SortTables(&tables);
  return tables;
}

BetterAlone FindBetterAlone(const Plan& plan, const std::vector<TableErrors>& errors) {
  std::vector<const TableErrors*> better;
  BetterAlone found;
  for (const TableErrors& table : errors) {
    if (table.weighted_variance <= table.weighted_alone_variance * (1 + kWorthNaming)) continue;
    found.num_tables += table.num_tables;
    better.push_back(&table);
  }
  std::stable_sort(better.begin(), better.end(), [](const TableErrors* a, const TableErrors* b) {
    return a->orbit.size() < b->orbit.size();
  });
  double num_named = 0;
  for (const TableErrors* table : better) {
    num_named += table->num_tables;
    if (num_named > kMostNamed) break;
    ForEachMember(plan.classes, table->orbit, [&](const AttributeSet& set) {
      found.named.push_back({set, table->weighted_variance, table->weighted_alone_variance});
    });
  }
  SortTables(&found.named);
  return found;
}

PlanSummary Summarize(const Plan& plan, const std::vector<TableErrors>& errors) {
  PlanSummary summary;
  double total_variance = 0;
  for (const TableErrors& table : errors) {
    summary.num_marginals += table.num_tables;
    summary.num_answers += table.num_tables * table.num_answers;
    total_variance += table.num_tables * table.num_answers * table.mean_variance;
    summary.max_variance = std::max(summary.max_variance, table.max_variance);
  }
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    summary.num_mechanisms += OrbitSize(plan.classes, plan.mechanisms[k]).get_d();
  }
  summary.rmse = std::sqrt(total_variance / summary.num_answers);
  return summary;
}

double ObjectiveLoss(const Plan& plan) {
  if (!plan.after.empty()) return ObjectiveLoss(WholePlan(plan));
  const WorkloadOrbits workload = OrbitsUnder(plan.domain, plan.workload, plan.classes);
  const ObjectiveRows rows =
      MakeObjectiveRows(plan.objective, workload, plan.mechanisms, plan.bases);
  return EvaluateLoss(rows, NoiseVariances(plan));
}

const Rational& NoiseVariance(const Plan& plan, const AttributeSet& set) {
  const auto index = plan.mechanisms.Find(OrbitOf(plan.classes, set));
  if (!index) {
    Fail(ErrorKind::kBadInput, "the plan does not measure the table {}", SetName(plan.domain, set));
  }
  return plan.variances[static_cast<size_t>(*index)];
}

Rational IntegerNoiseVariance(const Plan& plan, const AttributeSet& set) {
  Rational variance = NoiseVariance(plan, set);
  for (const int i : set) {
    const int c = plan.classes.class_of[static_cast<size_t>(i)];
    variance *= plan.bases[static_cast<size_t>(c)].variance_factor;
  }
  return variance;
}

double AnswerCovariance(const Plan& plan, const AttributeSet& table,
                        std::span<const int64_t> answer_a, std::span<const int64_t> answer_b) {
  if (answer_a.size() != table.size() || answer_b.size() != table.size()) {
    Fail(ErrorKind::kBadInput, "an answer of the table {} has {} values",
         SetName(plan.domain, table), table.size());
  }
  std::vector<QueryCovariance> factors;
  for (size_t k = 0; k < table.size(); ++k) {
    const Attribute& attribute = plan.domain[table[k]];
    const int64_t num_answers = NumAnswers(attribute);
    for (const int64_t answer : {answer_a[k], answer_b[k]}) {
      if (answer < 0 || answer >= num_answers) {
        Fail(ErrorKind::kBadInput, "attribute '{}' has no answer {}; its answers are 0 to {}",
             attribute.name, answer, num_answers - 1);
      }
    }
    const ResidualBasis& basis =
        plan.bases[static_cast<size_t>(plan.classes.class_of[static_cast<size_t>(table[k])])];
    if (basis.is_identity()) {
      const auto n = static_cast<double>(attribute.size);
      factors.push_back({(answer_a[k] == answer_b[k] ? 1.0 : 0.0) - 1 / n, 1 / (n * n)});
    } else {
      const QueryMatrix queries(attribute);
      factors.push_back(CovarianceOf(basis, queries.Row(answer_a[k]), queries.Row(answer_b[k])));
    }
  }
  double covariance = 0;
  AttributeSet subset;
  for (uint64_t mask = 0; mask < uint64_t{1} << table.size(); ++mask) {
    subset.clear();
    double term = 1;
    for (size_t k = 0; k < table.size(); ++k) {
      if ((mask >> k & 1) != 0) subset.push_back(table[k]);
      term *= (mask >> k & 1) != 0 ? factors[k].residual : factors[k].constant;
    }
    covariance += term * NoiseVariance(plan, subset).get_d();
  }
  return covariance;
}

}  // namespace residua
