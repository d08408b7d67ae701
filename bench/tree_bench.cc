// Plans of large trees of groups, and the lower bound of each: tree_bench

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "bench/stopwatch.h"
#include "residua/basis/query_matrix.h"
#include "residua/select/lower_bound.h"
#include "residua/select/select.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"

namespace residua {
namespace {

constexpr size_t kNumStates = 52;

// As many cells in as many counties, of very different sizes, in 52 states.
Attribute Country(int64_t num_cells, size_t num_counties) {
  std::mt19937 random(7);
  std::vector<double> share(num_counties);
  for (double& s : share) s = std::pow(0.02 + static_cast<double>(random() % 1000) / 1000, -1.2);
  double sum = 0;
  for (const double s : share) sum += s;
  const double spread = static_cast<double>(num_cells) - static_cast<double>(num_counties);
  Attribute country{"place", 0};
  country.queries = QueryKind::kHierarchy;
  std::vector<CellGroup> states(kNumStates);
  double end = 0;
  for (size_t c = 0; c < num_counties; ++c) {
    CellGroup county{fmt::format("county {}", c), {}};
    CellGroup& state = states[c * kNumStates / num_counties];
    end += 1 + spread * share[c] / sum;
    const auto last = c + 1 == num_counties ? num_cells : static_cast<int64_t>(end);
    for (; country.size < last; ++country.size) {
      county.cells.push_back(country.size);
      state.cells.push_back(country.size);
    }
    country.groups.push_back(std::move(county));
  }
  for (size_t s = 0; s < kNumStates; ++s) {
    states[s].name = fmt::format("state {}", s);
    country.groups.push_back(std::move(states[s]));
  }
  return country;
}

void Main() {
  fmt::print(
      "| cells | counties | objective | levels | plan, s | bound, s | above any mechanism | peak, "
      "MB |\n"
      "|---|---|---|---|---|---|---|---|\n");
  struct Row {
    int64_t num_cells;
    size_t num_counties;
    std::string objective;
    std::vector<double> level_weights = {};
  };
  std::vector<Row> rows;
  for (const auto& [cells, counties] :
       {std::pair<int64_t, size_t>{1000, 450}, {3143, 1000}, {10'000, 1500}, {84'034, 3143}}) {
    rows.push_back({cells, counties, "sum-variance"});
  }
  rows.push_back({3143, 52, "sum-variance"});
  for (const int64_t cells : {10'000, 84'034}) {
    rows.push_back({cells, cells == 10'000 ? 1500U : 3143U, "sum-variance", {1, 1, 1}});
  }
  rows.push_back({84'034, 3143, "sum-variance", {1, 10, 100}});
  rows.push_back({84'034, 3143, "p-norm=4"});
  rows.push_back({84'034, 3143, "max-variance"});
  for (const Row& row : rows) {
    std::vector<Attribute> attributes = ParseDomain("18,2,7").attributes();
    attributes.push_back(Country(row.num_cells, row.num_counties));
    attributes.back().level_weights = row.level_weights;
    const SelectRequest request{Domain(attributes),
                                {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                                ParseObjective(row.objective),
                                BudgetFromPcost(1)};
    Plan plan;
    const bench::Times planned = bench::TimesOf([&] { plan = Select(request); });
    std::optional<PlanCertificate> certificate;
    const bench::Times bounded = bench::TimesOf([&] { certificate = CertifyPlan(plan); });
    fmt::print("| {} | {} | {} | {} | {:.2f} | {:.2f} | {} | {:.0f} |\n", row.num_cells,
               row.num_counties, row.objective,
               row.level_weights.empty() ? "answers"
                                         : fmt::format("{}", fmt::join(row.level_weights, ", ")),
               planned.processor, bounded.processor,
               certificate ? fmt::format("{:.3f} %", 100 * certificate->above_lower_bound) : "-",
               bench::MegabytesAtPeak());
  }
}

}  // namespace
}  // namespace residua

int main() { residua::Main(); }
