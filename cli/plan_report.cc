#include "cli/plan_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/guarantee_report.h"
#include "cli/mean_report.h"
#include "cli/print_text.h"
#include "residua/base/error.h"
#include "residua/privacy/suspicion.h"
#include "residua/release/published_errors.h"
#include "residua/text/choice_text.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

// Up to this many tables are listed one by one unless all are asked for.
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

// A fraction in percent, rounded up, and never shown as 0.
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

// "1 table", "1,200 tables".
std::string CountedText(double count, std::string_view noun) {
  return fmt::format("{} {}{}", CountText(count), noun, count == 1 ? "" : "s");
}

size_t NameWidth(const Plan& plan, const std::vector<ListedTable>& tables) {
  size_t width = 5;
  for (const ListedTable& table : tables) {
    width = std::max(width, SetName(plan.domain, table.attributes).size());
  }
  return std::min<size_t>(width, 60);
}

std::string OrderName(size_t num_attributes) {
  return num_attributes == 0 ? "total" : fmt::format("{}-way", num_attributes);
}

bool HasMean(const Plan& plan, const ListedTable& table) {
  return MeanAttribute(plan.domain, table.attributes) >= 0;
}

std::vector<AttributeSet> SetsOf(const std::vector<ListedTable>& tables) {
  std::vector<AttributeSet> sets;
  for (const ListedTable& table : tables) sets.push_back(table.attributes);
  return sets;
}

// With the root mean square of the counts' standard deviations and the largest; their variances too
// if asked for. Of tables with a mean, what else they have follows.
void PrintEveryTable(const Plan& plan, const std::vector<TableErrors>& counts, bool variances,
                     std::optional<double> num_rows) {
  const std::vector<ListedTable> tables = ListTables(plan, counts);
  const std::vector<MeanErrors> means = PredictMeanErrors(plan, SetsOf(tables));
  const size_t width = NameWidth(plan, tables);
  PrintText("{:<{}}  {:>12}  {:>12}  {:>12}{}\n", "table", width, "answers", "rms s.d.",
            "largest s.d.",
            variances ? fmt::format("  {:>13}  {:>16}", "mean variance", "largest variance") : "");
  for (const ListedTable& table : tables) {
    const TableErrors& of = *table.errors;
    PrintText(
        "{:<{}}  {:>12}  {:>12.4g}  {:>12.4g}{}\n", SetName(plan.domain, table.attributes), width,
        CountText(of.num_answers), std::sqrt(of.mean_variance), std::sqrt(of.max_variance),
        variances ? fmt::format("  {:>13.6g}  {:>16.6g}", of.mean_variance, of.max_variance) : "");
  }
  if (means.empty()) return;
  PrintText("\n");
  PrintMeanErrors(plan, means, num_rows);
}

// In all tables with the attribute.
void PrintLevels(const Plan& plan, const std::vector<TableErrors>& errors) {
  const std::vector<HierarchyLevel> levels = ByLevel(plan, errors);
  if (levels.empty()) return;
  size_t width = 5;
  for (const HierarchyLevel& level : levels) {
    width = std::max(width, LevelInWords(plan.domain, level).size());
  }
  PrintText("\n{:<{}}  {:>12}  {:>12}  {:>12}\n", "level", width, "answers", "rms s.d.",
            "largest s.d.");
  for (const HierarchyLevel& level : levels) {
    PrintText("{:<{}}  {:>12}  {:>12.4g}  {:>12.4g}\n", LevelInWords(plan.domain, level), width,
              CountText(level.num_answers), std::sqrt(level.mean_variance),
              std::sqrt(level.max_variance));
  }
}

Json LevelJson(const std::string& attribute, int64_t level, double num_answers,
               double mean_variance, double max_variance) {
  return {{"attribute", attribute},
          {"level", level},
          {"cells", CountJson(num_answers)},
          {"mean_variance", mean_variance},
          {"max_variance", max_variance}};
}

// Of one table: each level along each of its hierarchies.
Json LevelsJson(const Plan& plan, const ListedTable& table) {
  Json json = Json::array();
  for (const int i : table.attributes) {
    for (const LevelErrors& of : table.errors->levels) {
      if (of.attribute_class != plan.classes.class_of[static_cast<size_t>(i)]) continue;
      json.push_back(LevelJson(plan.domain[i].name, of.level, of.num_answers, of.mean_variance,
                               of.max_variance));
    }
  }
  return json;
}

// Tables of equal order together.
void PrintByOrder(const std::vector<TableErrors>& errors) {
  PrintText("{:<8}  {:>12}  {:>16}  {:>12}  {:>12}\n", "tables", "number", "answers", "rms s.d.",
            "largest s.d.");
  for (const OrderErrors& order : ByOrder(errors)) {
    PrintText("{:<8}  {:>12}  {:>16}  {:>12.4g}  {:>12.4g}\n", OrderName(order.num_attributes),
              CountText(order.num_tables), CountText(order.num_answers),
              std::sqrt(order.mean_variance), std::sqrt(order.max_variance));
  }
}

// One row of a comparison: a number for each budget.
template <typename Number>
void PrintCompared(const std::string& name, size_t width, std::span<const ComparedPlan> plans,
                   const Number& number) {
  PrintText("{:<{}}", name, width);
  for (const ComparedPlan& compared : plans) PrintText("  {:>12}", number(compared));
  PrintText("\n");
}

// The longest of the names that every comparison has.
constexpr size_t kComparisonWidth = 28;

bool ListsTables(const ComparedPlan& compared) {
  return Summarize(compared.plan, compared.errors).num_marginals <= kMaxListedTables;
}

std::string FourDigits(double number) { return fmt::format("{:.4g}", number); }

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
              const std::optional<PlanCertificate>& certificate, double seconds, bool all_tables,
              std::optional<double> num_rows) {
  const Guarantee guarantee = GuaranteeOf(plan);
  const PlanSummary summary = Summarize(plan, errors);
  Json json;
  json["privacy"] = {{"pcost", guarantee.pcost}};
  AddGuarantee(guarantee, &json["privacy"]);
  json["privacy"]["pcost_exact"] = ToString(plan.pcost);
  json["privacy"]["mu2_exact"] = plan.mu2 ? Json(ToString(*plan.mu2)) : Json(nullptr);
  json["objective"] = ToString(plan.objective);
  json["weights"] = ToString(plan.objective.weighting);
  json["loss"] = plan.loss;
  json["rmse"] = SummarizePublished(plan).rms_std_dev;
  json["max_variance"] = summary.max_variance;
  json["relative_gap"] = plan.relative_gap;
  json["converged"] = plan.converged;
  json["lower_bound"] = certificate ? Json(certificate->lower_bound) : Json(nullptr);
  json["above_lower_bound"] = certificate ? Json(certificate->above_lower_bound) : Json(nullptr);
  json["marginals"] = CountJson(summary.num_marginals);
  json["base_mechanisms"] = CountJson(summary.num_mechanisms);
  json["cells"] = CountJson(summary.num_answers);
  json["better_alone"] = BetterAloneJson(plan.domain, FindBetterAlone(plan, errors));
  for (const HierarchyLevel& level : ByLevel(plan, CountErrors(plan))) {
    Json of = LevelJson(plan.domain[level.attribute].name, level.level, level.num_answers,
                        level.mean_variance, level.max_variance);
    of["places"] = level.num_places;
    of["example"] = level.example;
    json["levels"].push_back(std::move(of));
  }
  for (const Attribute& attribute : plan.domain.attributes()) {
    if (attribute.level_weights.empty()) continue;
    json["level_weights"][attribute.name] = attribute.level_weights;
  }
  json["orbits"] = plan.mechanisms.size();
  json["seconds"] = seconds;
  if (const auto means = MeansKeptApart(plan.domain, plan.workload); !means.empty()) {
    json["means_kept_apart"] = SetJson(plan.domain, means);
  }
  if (all_tables) {
    json["tables"] = Json::array();
    const std::vector<ListedTable> tables = ListTables(plan, errors);
    const std::vector<MeanErrors> means = PredictMeanErrors(plan, SetsOf(tables));
    auto mean = means.begin();
    for (const ListedTable& table : tables) {
      json["tables"].push_back({{"attributes", SetJson(plan.domain, table.attributes)},
                                {"cells", CountJson(table.errors->num_answers)},
                                {"mean_variance", table.errors->mean_variance},
                                {"max_variance", table.errors->max_variance}});
      if (HasMean(plan, table)) {
        json["tables"].back()["mean"] = MeanErrorsJson(plan, *mean++, num_rows);
      }
      if (!table.errors->levels.empty()) {
        json["tables"].back()["levels"] = LevelsJson(plan, table);
      }
    }
  }
  return json;
}

void PrintPlan(const Plan& plan, const std::vector<TableErrors>& errors,
               const std::optional<PlanCertificate>& certificate, double seconds, bool all_tables,
               std::optional<double> num_rows) {
  const Guarantee guarantee = GuaranteeOf(plan);
  const PlanSummary summary = Summarize(plan, errors);
  const PublishedSummary published = SummarizePublished(plan);
  PrintText("{} of {}, {}, from {} ({:.3g} s)\n\n", CountedText(summary.num_marginals, "table"),
            CountedText(plan.domain.size(), "attribute"),
            published.num_sums > 0
                ? CountText(published.num_answers + published.num_sums) + " counts and sums"
                : CountedText(published.num_answers, "answer"),
            CountedText(summary.num_mechanisms, "base mechanism"), seconds);
  PrintText("privacy    {}; {}\n", GuaranteeInWords(guarantee), ChangeInWords(plan.protection));
  PrintText("           privacy cost {}; a suspicion of 50 % can grow to at most {}\n",
            TextAbove(guarantee.pcost), PercentAbove(GrownSuspicion(0.5, guarantee.epsilon)));
  const bool all_identity =
      std::all_of(plan.bases.begin(), plan.bases.end(),
                  [](const ResidualBasis& basis) { return basis.is_identity(); });
  const std::string_view bases = all_identity ? "" : " with its residual bases";
  PrintText("objective  {} {:.6g}, {}\n", ToString(plan.objective), plan.loss,
            plan.relative_gap == 0
                ? fmt::format("the least possible{}", bases)
                : fmt::format("at most {:.1e} above the least possible{} (relative)",
                              plan.relative_gap, bases));
  if (certificate) {
    PrintText("           at most {} % above any mechanism of this privacy cost\n",
              PercentUp(certificate->above_lower_bound));
  }
  if (!plan.converged) {
    PrintText(
        "           the solver stopped early: the plan is valid, but its accuracy could improve\n");
  }
  for (const Attribute& attribute : plan.domain.attributes()) {
    if (attribute.level_weights.empty()) continue;
    PrintText("           levels of {} count {}, the lowest first\n", attribute.name,
              fmt::join(attribute.level_weights, " : "));
  }
  PrintText("errors     standard deviation over all {}\n", ErrorsInWords(published));
  if (const std::string words = SumErrorsInWords(published); !words.empty()) {
    PrintText("           of {}\n", words);
  }
  const BetterAlone better = FindBetterAlone(plan, errors);
  if (better.num_tables > 0) {
    PrintText(
        "           better off with noise of their own and an equal share of the budget: {}\n",
        NamesInWords(plan.domain, better));
  }
  if (const std::string words = LeftOutInWords(plan.domain, plan.workload); !words.empty()) {
    PrintText("left out   {}\n", words);
  }
  PrintText("\n");
  const std::vector<TableErrors> counts = CountErrors(plan);
  if (all_tables || summary.num_marginals <= kMaxListedTables) {
    PrintEveryTable(plan, counts, all_tables, num_rows);
  } else {
    PrintByOrder(counts);
    PrintText("\nAdd --variances to list every table.\n");
  }
  PrintLevels(plan, counts);
}

Json AfterJson(const Plan& plan, const std::vector<TableErrors>& errors, const Plan& fresh,
               const Rational& pcost_at_once) {
  const std::vector<TableErrors> fresh_errors = PublishedErrors(fresh);
  Json json = {{"releases", plan.after.size()},
               {"pcost_at_once", ToDoubleUp(pcost_at_once)},
               {"rho_at_once", ToDoubleUp(pcost_at_once / 2)},
               {"loss_from_nothing", fresh.loss},
               {"rmse_from_nothing", SummarizePublished(fresh).rms_std_dev}};
  if (Summarize(plan, errors).num_marginals > kMaxListedTables) return json;
  const std::vector<ListedTable> tables = ListTables(plan, errors);
  const std::vector<ListedTable> before = ListTables(fresh, fresh_errors);
  for (size_t t = 0; t < tables.size(); ++t) {
    json["tables"].push_back({{"attributes", SetJson(plan.domain, tables[t].attributes)},
                              {"mean_variance", tables[t].errors->mean_variance},
                              {"mean_variance_from_nothing", before[t].errors->mean_variance}});
  }
  return json;
}

void PrintAfter(const Plan& plan, const Plan& fresh, const Rational& pcost_at_once) {
  Rational all = plan.pcost;
  for (const MeasuredPlan& earlier : plan.after) all += earlier.plan->pcost;
  PrintText(
      "\nafter      {}: the errors above are those after combining\n"
      "           root mean square {:.6g}, and {:.6g} for the same cost from nothing\n"
      "           this release rho {}, all together rho {}; the same accuracy at once rho {}\n",
      CountedText(static_cast<double>(plan.after.size()), "earlier release"),
      SummarizePublished(plan).rms_std_dev, SummarizePublished(fresh).rms_std_dev,
      TextAbove(plan.pcost / 2), TextAbove(all / 2), TextAbove(pcost_at_once / 2));
  const std::vector<TableErrors> counts = CountErrors(plan);
  const std::vector<TableErrors> fresh_counts = CountErrors(fresh);
  if (Summarize(plan, counts).num_marginals > kMaxListedTables) return;
  const std::vector<ListedTable> tables = ListTables(plan, counts);
  const std::vector<ListedTable> before = ListTables(fresh, fresh_counts);
  const size_t width = std::max<size_t>(NameWidth(plan, tables), 5);
  PrintText("\n{:{}}  {:>12}  {:>12}\n", "table", width, "from nothing", "with earlier");
  for (size_t t = 0; t < tables.size(); ++t) {
    PrintText("{:{}}  {:>12.4g}  {:>12.4g}\n", SetName(plan.domain, tables[t].attributes), width,
              std::sqrt(before[t].errors->mean_variance),
              std::sqrt(tables[t].errors->mean_variance));
  }
  if (HasMeans(plan.domain)) PrintText("(of counts)\n");
}

Json ComparisonJson(std::span<const ComparedPlan> plans, std::string_view unit, bool all_tables) {
  Json json = {{"unit", unit}, {"plans", Json::array()}};
  for (const ComparedPlan& compared : plans) {
    Json plan = {{"budget", compared.budget}};
    plan.update(PlanJson(compared.plan, compared.errors, std::nullopt, compared.seconds,
                         all_tables || ListsTables(compared), std::nullopt));
    json["plans"].push_back(std::move(plan));
  }
  return json;
}

void PrintComparison(std::span<const ComparedPlan> plans, std::string_view unit, bool all_tables) {
  const ComparedPlan& first = plans.front();
  const bool lists_tables = all_tables || ListsTables(first);
  std::vector<std::vector<TableErrors>> counts;
  for (const ComparedPlan& compared : plans) counts.push_back(CountErrors(compared.plan));
  const auto counts_of = [&](const ComparedPlan& compared) -> const std::vector<TableErrors>& {
    return counts[static_cast<size_t>(&compared - plans.data())];
  };
  const std::vector<ListedTable> tables =
      lists_tables ? ListTables(first.plan, counts.front()) : std::vector<ListedTable>();
  const size_t width = std::max<size_t>(NameWidth(first.plan, tables), kComparisonWidth);
  const auto guarantee = [](const ComparedPlan& compared) { return GuaranteeOf(compared.plan); };
  const bool is_epsilon = first.plan.budget.unit == BudgetUnit::kEpsilonDelta;
  const std::string at_delta =
      fmt::format("epsilon at delta {}", DeltaText(guarantee(first).delta));
  PrintCompared(is_epsilon ? at_delta : std::string(unit), width, plans,
                [](const ComparedPlan& compared) { return compared.budget; });
  if (!is_epsilon) {
    PrintCompared(at_delta, width, plans, [&](const ComparedPlan& compared) {
      return TextAbove(guarantee(compared).epsilon);
    });
  }
  PrintCompared("a suspicion of 50 % grows to", width, plans, [&](const ComparedPlan& compared) {
    return PercentAbove(GrownSuspicion(0.5, guarantee(compared).epsilon));
  });
  const std::string_view answers = HasMeans(first.plan.domain) ? "counts" : "answers";
  PrintText("\nstandard deviation of the {}, root mean square:\n", answers);
  if (lists_tables) {
    for (size_t t = 0; t < tables.size(); ++t) {
      const auto orbit = static_cast<size_t>(tables[t].errors - counts.front().data());
      PrintCompared(SetName(first.plan.domain, tables[t].attributes), width, plans,
                    [&](const ComparedPlan& compared) {
                      return FourDigits(std::sqrt(counts_of(compared)[orbit].mean_variance));
                    });
    }
  } else {
    const std::vector<OrderErrors> orders = ByOrder(counts.front());
    for (size_t k = 0; k < orders.size(); ++k) {
      PrintCompared(OrderName(orders[k].num_attributes) + " tables", width, plans,
                    [&](const ComparedPlan& compared) {
                      return FourDigits(std::sqrt(ByOrder(counts_of(compared))[k].mean_variance));
                    });
    }
  }
  PrintCompared(fmt::format("all {}", answers), width, plans, [](const ComparedPlan& compared) {
    return FourDigits(SummarizePublished(compared.plan).rms_std_dev);
  });
  PrintCompared(fmt::format("largest of all {}", answers), width, plans,
                [](const ComparedPlan& compared) {
                  return FourDigits(SummarizePublished(compared.plan).largest_std_dev);
                });
}

}  // namespace residua::cli
