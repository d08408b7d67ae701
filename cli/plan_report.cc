#include "cli/plan_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "residua/base/error.h"
#include "residua/text/choice_text.h"

namespace residua::cli {
namespace {

using Json = nlohmann::ordered_json;

// Up to this many tables are listed one by one when nobody asks for all.
constexpr double kMaxListedTables = 40;

// An integer while a double holds it exactly, so that machines read counts as counts.
Json CountJson(double count) {
  if (count < 9007199254740992.0) return static_cast<int64_t>(count);
  return count;
}

std::string CountText(double count) {
  if (count >= 1e15) return fmt::format("{:.3e}", count);
  const std::string digits = fmt::format("{:.0f}", count);
  std::string grouped;
  for (size_t k = 0; k < digits.size(); ++k) {
    if (k > 0 && (digits.size() - k) % 3 == 0) grouped += ',';
    grouped += digits[k];
  }
  return grouped;
}

// A fraction in percent, rounded up, and never shown as nothing.
std::string PercentUp(double fraction) {
  return fmt::format("{:.3f}", std::max(std::ceil(fraction * 1e5), 1.0) / 1e3);
}

// Attributes by name; by index where the domain came from sizes alone.
Json SetJson(const Domain& domain, const AttributeSet& set) {
  Json list = Json::array();
  for (const int i : set) {
    if (domain[0].name == "0") {
      list.push_back(i);
    } else {
      list.push_back(domain[i].name);
    }
  }
  return list;
}

void PrintEveryTable(const Plan& plan, const std::vector<TableErrors>& errors) {
  const std::vector<ListedTable> tables = ListTables(plan, errors);
  size_t width = 5;
  for (const ListedTable& table : tables) {
    width = std::max(width, SetName(plan.domain, table.attributes).size());
  }
  width = std::min<size_t>(width, 60);
  fmt::print("{:<{}}  {:>12}  {:>12}\n", "table", width, "cells", "std dev");
  for (const ListedTable& table : tables) {
    fmt::print("{:<{}}  {:>12}  {:>12.4g}\n", SetName(plan.domain, table.attributes), width,
               CountText(table.errors->num_answers), std::sqrt(table.errors->max_variance));
  }
}

// Tables of equal order together: smallest, middle (by number of tables) and largest error.
void PrintByOrder(const std::vector<TableErrors>& errors) {
  std::map<size_t, std::vector<const TableErrors*>> by_order;
  for (const TableErrors& table : errors) by_order[table.orbit.size()].push_back(&table);
  fmt::print("{:<8}  {:>12}  {:>16}  {:>12}  {:>12}  {:>12}\n", "tables", "number", "cells",
             "least s.d.", "median s.d.", "largest s.d.");
  for (auto& [order, tables] : by_order) {
    std::sort(tables.begin(), tables.end(),
              [](const auto* a, const auto* b) { return a->max_variance < b->max_variance; });
    double number = 0;
    double cells = 0;
    for (const TableErrors* table : tables) {
      number += table->num_tables;
      cells += table->num_tables * table->num_answers;
    }
    double seen = 0;
    double median = 0;
    for (const TableErrors* table : tables) {
      seen += table->num_tables;
      median = table->max_variance;
      if (2 * seen >= number) break;
    }
    fmt::print("{:<8}  {:>12}  {:>16}  {:>12.4g}  {:>12.4g}  {:>12.4g}\n",
               order == 0 ? "total" : fmt::format("{}-way", order), CountText(number),
               CountText(cells), std::sqrt(tables.front()->max_variance), std::sqrt(median),
               std::sqrt(tables.back()->max_variance));
  }
}

}  // namespace

std::string NamesInWords(const Domain& domain, const BetterAlone& better) {
  constexpr size_t kMaxNamed = 6;
  std::string words;
  size_t num_named = 0;
  for (const BetterAlone::Table& table : better.named) {
    if (num_named == kMaxNamed) break;
    words += fmt::format("{}{}", num_named++ > 0 ? ", " : "", SetName(domain, table.attributes));
  }
  const double others = better.num_tables - static_cast<double>(num_named);
  if (num_named == 0) return fmt::format("{} tables", CountText(others));
  if (others == 0) return words;
  return fmt::format("{} and {} {}", words, CountText(others), others == 1 ? "other" : "others");
}

Json BetterAloneJson(const Domain& domain, const BetterAlone& better) {
  Json json = {{"number", CountJson(better.num_tables)}, {"tables", Json::array()}};
  for (const BetterAlone::Table& table : better.named) {
    json["tables"].push_back({{"attributes", SetJson(domain, table.attributes)},
                              {"mean_variance", table.mean_variance},
                              {"alone_variance", table.alone_variance}});
  }
  return json;
}

Json PlanJson(const Plan& plan, const std::vector<TableErrors>& errors,
              const std::optional<PlanCertificate>& certificate, double seconds, bool all_tables) {
  const Guarantee guarantee = GuaranteeOf(plan.pcost, plan.budget.delta);
  const PlanSummary summary = Summarize(plan, errors);
  Json json;
  json["privacy"] = {{"pcost", guarantee.pcost},
                     {"rho", guarantee.rho},
                     {"mu", guarantee.mu},
                     {"epsilon", guarantee.epsilon},
                     {"delta", guarantee.delta},
                     {"epsilon_continuous", guarantee.epsilon_continuous},
                     {"pcost_exact", ToString(plan.pcost)}};
  json["objective"] = ToString(plan.objective);
  json["weights"] = ToString(plan.objective.weighting);
  json["loss"] = plan.loss;
  json["rmse"] = summary.rmse;
  json["max_variance"] = summary.max_variance;
  json["relative_gap"] = plan.relative_gap;
  json["converged"] = plan.converged;
  json["lower_bound"] = certificate ? Json(certificate->lower_bound) : Json(nullptr);
  json["above_lower_bound"] = certificate ? Json(certificate->above_lower_bound) : Json(nullptr);
  json["marginals"] = CountJson(summary.num_marginals);
  json["base_mechanisms"] = CountJson(summary.num_mechanisms);
  json["cells"] = CountJson(summary.num_answers);
  json["better_alone"] = BetterAloneJson(plan.domain, FindBetterAlone(plan, errors));
  json["orbits"] = plan.mechanisms.size();
  json["seconds"] = seconds;
  if (all_tables) {
    json["tables"] = Json::array();
    for (const ListedTable& table : ListTables(plan, errors)) {
      json["tables"].push_back({{"attributes", SetJson(plan.domain, table.attributes)},
                                {"cells", CountJson(table.errors->num_answers)},
                                {"mean_variance", table.errors->mean_variance},
                                {"max_variance", table.errors->max_variance}});
    }
  }
  return json;
}

void PrintPlan(const Plan& plan, const std::vector<TableErrors>& errors,
               const std::optional<PlanCertificate>& certificate, double seconds, bool all_tables) {
  const Guarantee guarantee = GuaranteeOf(plan.pcost, plan.budget.delta);
  const PlanSummary summary = Summarize(plan, errors);
  fmt::print("{} {} of {} attributes, {} cells, from {} base mechanisms ({:.3g} s)\n\n",
             CountText(summary.num_marginals), summary.num_marginals == 1 ? "table" : "tables",
             plan.domain.size(), CountText(summary.num_answers), CountText(summary.num_mechanisms),
             seconds);
  fmt::print("privacy    rho {} (zCDP), epsilon {} at delta {}; {}\n", TextAbove(guarantee.rho),
             TextAbove(guarantee.epsilon), DeltaText(guarantee.delta),
             ChangeInWords(plan.protection));
  fmt::print("           privacy cost {}; were the noise continuous: mu {}, epsilon {}\n",
             TextAbove(guarantee.pcost), TextAbove(guarantee.mu),
             TextAbove(guarantee.epsilon_continuous));
  const bool all_identity =
      std::all_of(plan.bases.begin(), plan.bases.end(),
                  [](const ResidualBasis& basis) { return basis.is_identity(); });
  const std::string_view bases = all_identity ? "" : " with its residual bases";
  fmt::print("objective  {} {:.6g}, {}\n", ToString(plan.objective), plan.loss,
             plan.relative_gap == 0
                 ? fmt::format("the least possible{}", bases)
                 : fmt::format("at most {:.1e} above the least possible{} (relative)",
                               plan.relative_gap, bases));
  if (certificate) {
    fmt::print("           at most {} % above any mechanism of this privacy cost\n",
               PercentUp(certificate->above_lower_bound));
  }
  if (!plan.converged) {
    fmt::print(
        "           the solver stopped early: the plan is valid, but its accuracy could improve\n");
  }
  fmt::print("errors     RMSE {:.6g} over all cells; largest standard deviation {:.6g}\n",
             summary.rmse, std::sqrt(summary.max_variance));
  const BetterAlone better = FindBetterAlone(plan, errors);
  if (better.num_tables > 0) {
    fmt::print(
        "           better off with noise of their own and an equal share of the budget: {}\n",
        NamesInWords(plan.domain, better));
  }
  fmt::print("\n");
  if (all_tables || summary.num_marginals <= kMaxListedTables) {
    PrintEveryTable(plan, errors);
  } else {
    PrintByOrder(errors);
    fmt::print("\nAdd --variances to list every table.\n");
  }
}

}  // namespace residua::cli
