// How near the bound is, on random workloads whose optimum can be computed:
// bound_bench TRIALS LEAST_CELLS MOST_CELLS [SEED [OBJECTIVE [SPREAD [any]]]]
// OBJECTIVE is max-variance (the default) or sum-variance, of which each cell counts alike; weights of
// tables are from 1 to e^SPREAD, 2 by default. With "any", custom queries take part for the largest
// variance too, and hierarchies are random trees, half of them with weights of their levels.
// A row for each: the bound and our plan beside the optimum over every mechanism, which is found
// between proven bounds (the last column), and processor seconds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "residua/select/lower_bound.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "tests/oracle/optimal_mechanism.h"
#include "tests/oracle/random_workload.h"

namespace residua::bench {
namespace {

constexpr int kOptimumSteps = 80;
constexpr int64_t kMostSize = 9;

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string NameOf(const Domain& domain) {
  std::string name;
  for (const Attribute& attribute : domain.attributes()) {
    constexpr const char* kKinds[] = {"", ":prefix", ":range", ":hierarchy", ":custom"};
    name += fmt::format("{}{}{}", name.empty() ? "" : ",", attribute.size,
                        kKinds[static_cast<size_t>(attribute.queries)]);
  }
  return name;
}

int Main(int count, char** arguments) {
  if (count < 4) {
    fmt::print(
        stderr,
        "usage: bound_bench TRIALS LEAST_CELLS MOST_CELLS [SEED [OBJECTIVE [SPREAD [any]]]]\n");
    return 1;
  }
  const int trials = std::atoi(arguments[1]);
  const int64_t least_cells = std::atoll(arguments[2]);
  const int64_t most_cells = std::atoll(arguments[3]);
  std::mt19937 random(count > 4 ? static_cast<unsigned>(std::atoi(arguments[4])) : 1U);
  Objective objective = ParseObjective(count > 5 ? arguments[5] : "max-variance");
  objective.weighting = Weighting::kCells;
  const bool max = objective.kind == Objective::Kind::kMaxVariance;
  if (max) objective.weighting = Weighting::kEqual;
  const double spread = count > 6 ? std::atof(arguments[6]) : 2;
  const bool any = count > 7 && std::string(arguments[7]) == "any";
  std::vector<double> ratios;
  std::vector<double> plan_ratios;
  int num_unknown = 0;
  fmt::print(
      "| domain | tables | bound / optimum | plan / optimum | plan s | bound s | known to |\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  for (int trial = 0; trial < trials; ++trial) {
    const Domain domain =
        oracle::RandomDomain({least_cells, most_cells, kMostSize, !max || any, any}, &random);
    const Workload workload = oracle::RandomWorkload(domain, spread, &random);
    const double start = ProcessorSeconds();
    const Plan plan = Select({domain, workload, objective, BudgetFromPcost(1)});
    const double planned = ProcessorSeconds();
    const double bound = LeastLossBound(domain, workload, objective);
    const double bounded = ProcessorSeconds();
    const Eigen::MatrixXd stacked = oracle::WeightedQueries(domain, workload);
    const oracle::OptimumBounds optimum =
        max ? oracle::LeastMaxVariance(stacked, kOptimumSteps)
            : oracle::LeastTotalVariance(stacked.transpose() * stacked, kOptimumSteps);
    if (!(optimum.upper >= optimum.lower * (1 - 1e-9))) {
      ++num_unknown;
      continue;
    }
    const double lower = std::max(optimum.lower, bound);
    ratios.push_back(bound / lower);
    plan_ratios.push_back(plan.loss / lower);
    fmt::print("| {} | {} | {:.4f} | {:.4f} | {:.2f} | {:.2f} | {:.4f} |{}\n", NameOf(domain),
               workload.marginals.size(), bound / lower, plan.loss / lower, planned - start,
               bounded - planned, optimum.upper / lower - 1,
               bound > std::min(optimum.upper, plan.loss) * (1 + 1e-9) ? " WRONG" : "");
    std::fflush(stdout);
  }
  if (ratios.empty()) return 1;
  std::sort(ratios.begin(), ratios.end());
  std::sort(plan_ratios.begin(), plan_ratios.end());
  fmt::print("\nof {} workloads, {} without a known optimum\n", trials, num_unknown);
  double sum = 0;
  for (const double ratio : plan_ratios) sum += ratio;
  fmt::print(
      "bound: worst {:.4f}, one in ten below {:.4f}; plan: median {:.4f}, mean {:.5f}, worst "
      "{:.4f}\n",
      ratios.front(), ratios[ratios.size() / 10], plan_ratios[plan_ratios.size() / 2],
      sum / static_cast<double>(plan_ratios.size()), plan_ratios.back());
  return 0;
}

}  // namespace
}  // namespace residua::bench

int main(int count, char** arguments) { return residua::bench::Main(count, arguments); }
