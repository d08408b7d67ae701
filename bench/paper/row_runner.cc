#include "bench/paper/row_runner.h"

#include <tbb/task_group.h>

#include <cmath>

#include "bench/paper_objective.h"
#include "bench/stopwatch.h"
#include "bench/synthetic_residuals.h"
#include "residua/base/error.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_batches.h"
#include "residua/select/lower_bound.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"
#include "residua/text/domain_text.h"
#include "residua/text/workload_text.h"

namespace residua::bench {
namespace {

constexpr int kMaxRuns = 5;
constexpr double kEnoughSeconds = 1;

bool OnlyMarginals(const Domain& domain) {
  for (const Attribute& attribute : domain.attributes()) {
    if (attribute.queries != QueryKind::kIdentity) return false;
  }
  return true;
}

bool IsIn(const Domain& domain, const AttributeSet& set, const MarginalRule& rule) {
  const auto order = static_cast<int64_t>(set.size());
  if (rule.kind == MarginalRule::Kind::kExactly) return order == rule.bound;
  if (rule.kind == MarginalRule::Kind::kUpTo) return order <= rule.bound;
  return NumCells(domain, set) <= rule.bound;
}

// Rules as on the command line; "3&cells<=5000": the sets of up to three attributes that are in
// both.
Workload WorkloadOf(const Domain& domain, const std::string& text) {
  const size_t both = text.find('&');
  if (both == std::string::npos) return {ParseMarginalRules(text), {}};
  const MarginalRule first = ParseMarginalRules(text.substr(0, both)).front();
  const MarginalRule second = ParseMarginalRules(text.substr(both + 1)).front();
  Workload workload;
  for (const AttributeSet& set : SetsUpToThree(domain.size())) {
    if (IsIn(domain, set, first) && IsIn(domain, set, second)) {
      workload.marginals.push_back({set, 1.0});
    }
  }
  return workload;
}

SelectRequest RequestOf(const Figure& figure) {
  const Domain domain = ParseDomain(figure.domain);
  SelectRequest request{domain, WorkloadOf(domain, figure.marginals),
                        PaperObjective(figure.objective), BudgetFromPcost(1)};
  // The paper prints up to eight digits of marginals' largest variances.
  if (OnlyMarginals(domain)) request.solver.tolerance = 1e-7;
  return request;
}

// Beyond this many values one array stands for all three-way residuals.
constexpr double kMaxResidualValues = 3e8;

size_t SharedOrder(const Domain& domain) {
  double largest = 1;
  for (int i = 0; i < 3 && i < domain.size(); ++i) {
    largest *= static_cast<double>(domain[i].size);
  }
  const double num_tables = Binomial(static_cast<uint64_t>(domain.size()), 3).get_d();
  return largest * num_tables > kMaxResidualValues ? 3 : 4;
}

// The number of tables whose answers are made at once: enough to keep the threads busy.
constexpr size_t kTablesInFlight = 256;

// Every table of up to three attributes; with `answers`, also the answers to its queries.
double ReconstructSeconds(const Figure& figure, bool answers) {
  const Domain domain = ParseDomain(figure.domain);
  std::vector<ResidualBasis> bases = IdentityBases(domain);
  if (!OnlyMarginals(domain)) {
    const Plan plan = residua::Select(RequestOf(figure));
    for (size_t i = 0; i < bases.size(); ++i) {
      bases[i] = plan.bases[static_cast<size_t>(plan.classes.class_of[i])];
    }
  }
  std::vector<AxisAnswers> axes;
  for (int i = 0; i < domain.size(); ++i) {
    axes.push_back(MakeAxisAnswers(domain[i], bases[static_cast<size_t>(i)]));
  }
  const std::vector<AttributeSet> tables = SetsUpToThree(domain.size());
  const Residuals residuals = MakeResiduals(bases, tables, SharedOrder(domain));
  const ResidualIndex index(domain, bases, residuals.views);
  const auto answer = [&](const AttributeSet& table, const std::vector<double>& counts) {
    std::vector<const AxisAnswers*> of_table;
    for (const int i : table) of_table.push_back(&axes[static_cast<size_t>(i)]);
    const std::vector<double> result = AnswerTable(counts, of_table);
    RESIDUA_CHECK(std::isfinite(result.back()));
  };
  return MedianSeconds(
      [&] {
        size_t num_tables = 0;
        tbb::task_group group;
        ReconstructTables(index, tables, {}, [&](size_t k, std::span<const double> counts) {
          ++num_tables;
          if (!answers) return;
          group.run(
              [&answer, &table = tables[k],
               copy = std::vector<double>(counts.begin(), counts.end())] { answer(table, copy); });
          if (num_tables % kTablesInFlight == 0) group.wait();
        });
        group.wait();
        RESIDUA_CHECK(num_tables == tables.size());
      },
      kMaxRuns, kEnoughSeconds);
}

}  // namespace

// 27 billion answers.
bool IsLong(const Figure& figure) {
  return figure.quantity == Quantity::kAnswerSeconds && figure.row == "d=100";
}

const RowRunner::Selection& RowRunner::Select(const Figure& figure) {
  const std::string key = figure.domain + " " + figure.marginals + " " + figure.objective;
  const auto known = selections_.find(key);
  if (known != selections_.end()) return known->second;
  const SelectRequest request = RequestOf(figure);
  Plan plan;
  Selection selection;
  selection.seconds =
      MedianSeconds([&] { plan = residua::Select(request); }, kMaxRuns, kEnoughSeconds);
  const PlanSummary summary = Summarize(plan, PredictErrors(plan));
  selection.rmse = summary.rmse;
  selection.max_variance = summary.max_variance;
  selection.relative_gap = plan.relative_gap;
  const double bound = LeastLossBound(request.domain, request.workload, request.objective);
  selection.bound = request.objective.kind == Objective::Kind::kMaxVariance
                        ? bound
                        : std::sqrt(bound / summary.num_answers);
  return selections_.emplace(key, selection).first->second;
}

RowResult RowRunner::Run(const Figure& figure) {
  if (figure.quantity == Quantity::kReconstructSeconds) {
    return {ReconstructSeconds(figure, false), {}, {}};
  }
  if (figure.quantity == Quantity::kAnswerSeconds) {
    return {ReconstructSeconds(figure, true), {}, {}};
  }
  const Selection& selection = Select(figure);
  if (figure.quantity == Quantity::kSelectSeconds) {
    return {selection.seconds, {}, selection.relative_gap};
  }
  const double ours = figure.quantity == Quantity::kRmse ? selection.rmse : selection.max_variance;
  return {ours, selection.bound, selection.relative_gap};
}

}  // namespace residua::bench
