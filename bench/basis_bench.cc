// Residual bases and plans of prefix and range workloads: basis_bench

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/paper_objective.h"
#include "bench/stopwatch.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

struct Row {
  std::string domain;
  std::string marginals;
  std::string objective;
  std::string goal_seconds;
  std::string paper_seconds;
};

void Main() {
  const std::string adult = "100:prefix*3,99:prefix,85:prefix,42,16,15,9,7,6,5,2,2";
  const std::vector<Row> rows = {
      {"100:prefix,5", "<=2", "sum-variance", "0.3", "-"},
      {"100:range,5", "<=2", "sum-variance", "0.3", "-"},
      {"256:prefix,5", "<=2", "sum-variance", "3", "-"},
      {"256:range,5", "<=2", "sum-variance", "3", "-"},
      {"1024:prefix,5", "<=2", "sum-variance", "3", "-"},
      {"1024:prefix,5", "<=2", "max-variance", "-", "-"},
      {"1024:range,5", "<=2", "sum-variance", "3", "-"},
      {"4096:prefix", "<=1", "sum-variance", "60", "-"},
      {"4096:range", "<=1", "sum-variance", "60", "-"},
      {"10:range*100", "<=3", "sum-variance", "1", "38.005"},
      {"10:range*100", "<=3", "max-variance", "5", "out of memory"},
      {adult, "<=3", "sum-variance", "2", "-"},
      {adult, "<=3", "max-variance", "-", "-"},
  };
  fmt::print(
      "| domain | marginals | objective | seconds | goal | paper's seconds | RMSE | largest "
      "variance | certified gap |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const Row& row : rows) {
    const SelectRequest request{ParseDomain(row.domain),
                                {ParseMarginalRules(row.marginals), {}},
                                bench::PaperObjective(row.objective),
                                BudgetFromPcost(1)};
    Plan plan;
    const double seconds = bench::MedianSeconds([&] { plan = Select(request); }, 5, 2);
    const PlanSummary summary = Summarize(plan, PredictErrors(plan));
    fmt::print("| {} | {} | {} | {:.3g} | {} | {} | {:.6g} | {:.6g} | {:.1e} |\n",
               row.domain == adult ? "Adult, 5 prefix attributes" : row.domain, row.marginals,
               row.objective, seconds, row.goal_seconds, row.paper_seconds, summary.rmse,
               summary.max_variance, plan.relative_gap);
  }
}

}  // namespace
}  // namespace residua

int main() { residua::Main(); }
