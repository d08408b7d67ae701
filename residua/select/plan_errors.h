#pragma once

#include <span>
#include <vector>

#include "residua/select/plan.h"

namespace residua {

// The answers of a table that have one level of a hierarchy (AnswerLevels) along one attribute, and
// any answer along the others.
struct LevelErrors {
  int attribute_class = 0;  // that of the attribute
  int64_t level = 0;
  double num_answers = 0;
  double mean_variance = 0;
  double max_variance = 0;
};

// The errors a plan predicts for the tables of one workload orbit. Where a mean is asked, answers
// are the cells that rows are split between, and the largest variance is that of the counts too.
struct TableErrors {
  std::vector<int> orbit;
  double num_tables = 0;
  double num_answers = 0;  // of each table
  double mean_variance = 0;
  double max_variance = 0;
  // The mean variance if each table of the workload were measured alone, with noise of its own and
  // an equal share of the plan's privacy cost. A table over A then needs
  //   prod_{i in A} (sqrt(privacy_cost_i * residual_i) + sqrt(constant_i))^2
  // per unit of it, with the means of the plan's bases: 1 for cells, each with independent noise.
  // The noise that reaches it gives other means residual', constant' the mean variance
  //   prod (sqrt(privacy_cost residual) + sqrt(constant))
  //        (sqrt(privacy_cost / residual) residual' + constant' / sqrt(constant)).
  double alone_variance = 0;
  // The mean variances as an objective counts them, by the shares of AnswerWeights: the same, unless
  // an attribute has weights of levels. The noise of tables alone is chosen for these.
  double weighted_variance = 0;
  double weighted_alone_variance = 0;
  std::vector<LevelErrors> levels = {};  // of each class with a hierarchy, the highest first
};
std::vector<TableErrors> PredictErrors(const Plan& plan);

// Every table of the workload with the errors of its orbit, smaller orders first, in the domain's
// order of attributes.
struct ListedTable {
  AttributeSet attributes;
  const TableErrors* errors;
};
std::vector<ListedTable> ListTables(const Plan& plan, const std::vector<TableErrors>& errors);

// The tables that would have a smaller mean variance, as the objective counts it, if each were
// measured alone: `num_tables` of them, of which at most kMostNamed are named, smaller ones first, in the order of ListTables.
struct BetterAlone {
  struct Table {
    AttributeSet attributes;
    double mean_variance = 0;
    double alone_variance = 0;
  };
  double num_tables = 0;
  std::vector<Table> named;
};
BetterAlone FindBetterAlone(const Plan& plan, const std::vector<TableErrors>& errors);
inline constexpr double kMostNamed = 1000;

// rmse = sqrt(total variance of all answers / number of answers).
struct PlanSummary {
  double num_marginals = 0;
  double num_mechanisms = 0;
  double num_answers = 0;
  double rmse = 0;
  double max_variance = 0;
};
PlanSummary Summarize(const Plan& plan, const std::vector<TableErrors>& errors);

// The plan's objective at its noise.
double ObjectiveLoss(const Plan& plan);

// The noise variances as doubles.
std::vector<double> NoiseVariances(const Plan& plan);

// Var and Cov of two reconstructed answers of the table over `table`; an answer is a row of the
// query matrix for each attribute (a cell, for identity queries). Any table in the closure, in the
// workload or not:
//   sum over A' subset A of variance_{A'} prod_{i in A'} residual_i prod_{j in A\A'} constant_j
// with the factors of CovarianceOf.
double AnswerCovariance(const Plan& plan, const AttributeSet& table,
                        std::span<const int64_t> answer_a, std::span<const int64_t> answer_b);

// The noise variance of the base mechanism for `set`, or Error{kBadInput} if the plan has none.
const Rational& NoiseVariance(const Plan& plan, const AttributeSet& set);

// The variance of the discrete Gaussian on each integer of the base mechanism on `set`, in units of
// the integer before it is scaled: sigma2_A prod_{i in A} variance_factor_i.
Rational IntegerNoiseVariance(const Plan& plan, const AttributeSet& set);

}  // namespace residua
