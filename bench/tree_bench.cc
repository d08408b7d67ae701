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
#include "residua/basis/tree_matrix.h"
#include "residua/model/answer_weights.h"
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

// Deep and irregular: parts of very different sizes, each of up to 12 parts again, or none. Groups
// may hold one cell or one group.
Attribute Irregular(int64_t num_cells, int depth, uint32_t seed) {
  std::mt19937 random(seed);
  Attribute place{"place", num_cells};
  place.queries = QueryKind::kHierarchy;
  const auto split = [&](const auto& self, int64_t begin, int64_t end, int levels) -> void {
    CellGroup group{fmt::format("group {}", place.groups.size()), {}};
    for (int64_t cell = begin; cell < end; ++cell) group.cells.push_back(cell);
    place.groups.push_back(std::move(group));
    if (levels == 0 || end - begin < 2) return;
    std::vector<double> shares(1 + random() % 12);
    double left = 0;
    for (double& share : shares) {
      share = std::pow(1 - static_cast<double>(random() % 1000) / 1000, -1.4);  // Pareto
      left += share;
    }
    for (size_t part = 0; part < shares.size() && begin < end; ++part) {
      const auto own = static_cast<int64_t>(static_cast<double>(end - begin) * shares[part] / left);
      const int64_t last = part + 1 == shares.size() ? end : begin + std::max<int64_t>(1, own);
      left -= shares[part];
      self(self, begin, std::min(last, end), random() % 5 == 0 ? 0 : levels - 1);
      begin = last;
    }
  };
  split(split, 0, num_cells, depth);
  return place;
}

// One attribute and the total: plans of irregular trees, whose certificates depend on their shapes.
void PlanIrregularTrees() {
  fmt::print(
      "\n| cells | groups | levels | weights of levels | left to the root | plan, s | bound, s | "
      "above any mechanism |\n|---|---|---|---|---|---|---|---|\n");
  uint32_t seed = 0;
  for (const int64_t num_cells : {1500, 6000, 30'000}) {
    for (const int depth : {6, 12}) {
      for (const double decades : {-1.0, 0.0, 4.0, 6.0}) {
        Attribute place = Irregular(num_cells, depth, ++seed);
        const size_t num_levels = AnswersOfLevels(place).size();
        std::mt19937 random(seed);
        for (size_t level = 0; level < num_levels && decades >= 0; ++level) {
          const double height = static_cast<double>(random() % 1000) / 1000 - 0.5;
          place.level_weights.push_back(std::pow(10, decades * height));
        }
        const SelectRequest request{Domain({place}),
                                    {{{MarginalRule::Kind::kUpTo, 1}}, {}},
                                    ParseObjective("sum-variance"),
                                    BudgetFromPcost(1)};
        Plan plan;
        const bench::Times planned = bench::TimesOf([&] { plan = Select(request); });
        std::optional<PlanCertificate> certificate;
        const bench::Times bounded = bench::TimesOf([&] { certificate = CertifyPlan(plan); });
        const auto* tree = std::get_if<TreeMatrix>(&plan.bases.front().matrix);
        const bool is_left = tree != nullptr && !tree->nodes.back().dense.empty();
        fmt::print(
            "| {} | {} | {} | {} | {} | {:.2f} | {:.2f} | {} |\n", place.size, place.groups.size(),
            num_levels,
            decades < 0    ? "answers"
            : decades == 0 ? "equal"
                           : fmt::format("over 10^{:.0f}", decades),
            is_left ? fmt::format("{}", tree->tree->num_children(tree->tree->num_nodes() - 1))
                    : "-",
            planned.processor, bounded.processor,
            certificate ? fmt::format("{:.3f} %", 100 * certificate->above_lower_bound) : "-");
      }
    }
  }
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
  PlanIrregularTrees();
}

}  // namespace
}  // namespace residua

int main() { residua::Main(); }
