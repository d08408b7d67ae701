// Selection times beside the paper's, on one machine in one run: select_bench

#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/paper_objective.h"
#include "bench/stopwatch.h"
#include "bench/synthetic_tables.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua::bench {
namespace {

struct Row {
  std::string domain;
  std::string objective;
  double tolerance;
  std::string paper_seconds;
  std::string goal_seconds;
};

void Main() {
  const std::vector<Row> rows = {
      {"10*100", "sum-variance", 1e-6, "9.913", "0.1"},
      {"10*200", "sum-variance", 1e-6, "80.120", "0.5"},
      {"10*100", "max-variance", 1e-6, "121.224", "0.3"},
      {"10*200", "max-variance", 1e-6, "over 3600", "1"},
      {DifferentSizes(100), "sum-variance", 1e-5, "-", "-"},
      {DifferentSizes(100), "max-variance", 1e-5, "-", "10"},
      {"2*500,3*500", "max-variance", 1e-6, "-", "-"},
  };
  fmt::print("All marginals of up to 3 attributes (the last row: up to 2), privacy cost 1.\n\n");
  fmt::print(
      "| domain | objective | seconds | goal | paper's seconds | loss | certified gap | peak MB "
      "|\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (const Row& row : rows) {
    const int64_t order = row.domain.starts_with("2*") ? 2 : 3;
    SelectRequest request{ParseDomain(row.domain),
                          {{{MarginalRule::Kind::kUpTo, order}}, {}},
                          PaperObjective(row.objective),
                          BudgetFromPcost(1),
                          {}};
    request.solver.tolerance = row.tolerance;
    Plan plan;
    const double seconds = MedianSeconds([&] { plan = Select(request); }, 5, 2);
    const std::string name = row.domain.size() > 20 ? "100 different sizes, 2 to 101" : row.domain;
    fmt::print("| {} | {} | {:.3g} | {} | {} | {:.8g} | {:.1e} | {:.0f} |\n", name, row.objective,
               seconds, row.goal_seconds, row.paper_seconds, plan.loss, plan.relative_gap,
               MegabytesAtPeak());
  }
}

}  // namespace
}  // namespace residua::bench

int main() { residua::bench::Main(); }
