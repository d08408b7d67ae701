// How near the bound of the largest variance is, on random workloads whose optimum can be computed:
// bound_bench TRIALS LEAST_CELLS MOST_CELLS [SEED]
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
#include "tests/oracle/dense_mechanism.h"
#include "tests/oracle/optimal_mechanism.h"

namespace residua::bench {
namespace {

constexpr int kOptimumSteps = 80;

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Two to four attributes of every kind that tells all its cells apart.
Domain RandomDomain(int64_t least_cells, int64_t most_cells, std::mt19937* random) {
  const auto draw = [&](int64_t first, int64_t last) {
    return std::uniform_int_distribution<int64_t>(first, last)(*random);
  };
  for (;;) {
    std::vector<Attribute> attributes(static_cast<size_t>(draw(2, 4)));
    int64_t num_cells = 1;
    bool all_identity = true;
    for (Attribute& attribute : attributes) {
      attribute.name = std::to_string(&attribute - attributes.data());
      attribute.size = draw(2, 9);
      num_cells *= attribute.size;
      attribute.queries = static_cast<QueryKind>(draw(0, 3));
      all_identity = all_identity && attribute.queries == QueryKind::kIdentity;
      if (attribute.queries == QueryKind::kHierarchy) {
        attribute.groups = {{"first", {0}}, {"last", {attribute.size - 2, attribute.size - 1}}};
      }
    }
    if (num_cells >= least_cells && num_cells <= most_cells && !all_identity) {
      return Domain(attributes);
    }
  }
}

Workload RandomWorkload(const Domain& domain, std::mt19937* random) {
  Workload workload;
  std::uniform_real_distribution<double> uniform(0, 1);
  for (uint64_t mask = 0; mask < uint64_t{1} << domain.size(); ++mask) {
    if (uniform(*random) < 0.4 && mask + 1 < uint64_t{1} << domain.size()) continue;
    AttributeSet set;
    for (int i = 0; i < domain.size(); ++i) {
      if ((mask >> i & 1) != 0) set.push_back(i);
    }
    workload.marginals.push_back({set, std::exp(2 * uniform(*random))});
  }
  return workload;
}

std::string NameOf(const Domain& domain) {
  std::string name;
  for (const Attribute& attribute : domain.attributes()) {
    constexpr const char* kKinds[] = {"", ":prefix", ":range", ":hierarchy"};
    name += fmt::format("{}{}{}", name.empty() ? "" : ",", attribute.size,
                        kKinds[static_cast<size_t>(attribute.queries)]);
  }
  return name;
}

int Main(int count, char** arguments) {
  if (count < 4) {
    fmt::print(stderr, "usage: bound_bench TRIALS LEAST_CELLS MOST_CELLS [SEED]\n");
    return 1;
  }
  const int trials = std::atoi(arguments[1]);
  const int64_t least_cells = std::atoll(arguments[2]);
  const int64_t most_cells = std::atoll(arguments[3]);
  std::mt19937 random(count > 4 ? static_cast<unsigned>(std::atoi(arguments[4])) : 1U);
  std::vector<double> ratios;
  fmt::print(
      "| domain | tables | bound / optimum | plan / optimum | plan s | bound s | known to |\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  for (int trial = 0; trial < trials; ++trial) {
    const Domain domain = RandomDomain(least_cells, most_cells, &random);
    const Workload workload = RandomWorkload(domain, &random);
    Objective objective;
    objective.kind = Objective::Kind::kMaxVariance;
    const double start = ProcessorSeconds();
    const Plan plan = Select({domain, workload, objective, BudgetFromPcost(1)});
    const double planned = ProcessorSeconds();
    const double bound = LeastLossBound(domain, workload, objective);
    const double bounded = ProcessorSeconds();
    std::vector<Eigen::MatrixXd> queries;
    for (const Attribute& attribute : domain.attributes()) {
      queries.push_back(oracle::DenseQueries(attribute));
    }
    Eigen::MatrixXd stacked;
    for (const WeightedMarginal& table : workload.marginals) {
      const Eigen::MatrixXd q = oracle::KroneckerOver(domain, table.attributes, queries);
      stacked.conservativeResize(stacked.rows() + q.rows(), q.cols());
      stacked.bottomRows(q.rows()) = std::sqrt(table.weight) * q;
    }
    const oracle::OptimumBounds optimum = oracle::LeastMaxVariance(stacked, kOptimumSteps);
    const double lower = std::max(optimum.lower, bound);
    ratios.push_back(bound / lower);
    fmt::print("| {} | {} | {:.4f} | {:.4f} | {:.2f} | {:.2f} | {:.4f} |{}\n", NameOf(domain),
               workload.marginals.size(), bound / lower, plan.loss / lower, planned - start,
               bounded - planned, optimum.upper / lower - 1,
               bound > std::min(optimum.upper, plan.loss) * (1 + 1e-9) ? " WRONG" : "");
    std::fflush(stdout);
  }
  std::sort(ratios.begin(), ratios.end());
  fmt::print("\nworst {:.4f}, one in ten below {:.4f}\n", ratios.front(),
             ratios[ratios.size() / 10]);
  return 0;
}

}  // namespace
}  // namespace residua::bench

int main(int count, char** arguments) { return residua::bench::Main(count, arguments); }
