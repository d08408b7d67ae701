#include "residua/release/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "residua/base/version.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

// More tables than a reader looks at are summarised by their number of attributes.
constexpr double kMaxSummaryTables = 200;

std::string WhoIsProtected(const Protection& protection) {
  if (protection.neighbours == Protection::Neighbours::kReplaceOne) {
    return "Nobody who sees this release can reliably tell whether any one row of the data was "
           "replaced by another. The number of rows itself is not protected: it is taken as known.";
  }
  if (protection.identifier.empty()) {
    return "Nobody who sees this release can reliably tell whether any one row was in the data, "
           "whatever else they know. A person with several rows is protected less: the privacy "
           "cost grows with the square of the number of rows.";
  }
  return fmt::format(
      "Nobody who sees this release can reliably tell whether the rows of any one `{}` were in the "
      "data, whatever else they know. For each `{}`, at most {} {} counted, chosen at random. Rows "
      "without a `{}` were left out. The tables count these rows only, so their counts are below "
      "those of all rows.",
      protection.identifier, protection.identifier, protection.max_rows,
      protection.max_rows == 1 ? "row was" : "rows were", protection.identifier);
}

constexpr std::string_view kRowsOfQuery =
    "The data is the result of a query, and a row is a row of that result. If the query joins "
    "tables, groups rows or limits their number, one row of the original tables may affect "
    "several rows, and is then protected less than one row.";

std::string ErrorsByTable(const Plan& plan) {
  const std::vector<TableErrors> errors = PredictErrors(plan);
  double num_tables = 0;
  for (const TableErrors& table : errors) num_tables += table.num_tables;
  std::string text = "| table | answers | standard deviation | largest |\n|---|---|---|---|\n";
  const auto row = [&](const std::string& name, double answers, double mean, double largest) {
    text += fmt::format("| {} | {:.15g} | {:.4g} | {:.4g} |\n", name, answers, std::sqrt(mean),
                        std::sqrt(largest));
  };
  if (num_tables <= kMaxSummaryTables) {
    for (const TableErrors& table : errors) {
      ForEachMember(plan.classes, table.orbit, [&](const AttributeSet& set) {
        row(SetName(plan.domain, set), table.num_answers, table.mean_variance, table.max_variance);
      });
    }
    return text;
  }
  for (size_t order = 0; order <= static_cast<size_t>(plan.domain.size()); ++order) {
    double tables = 0;
    double answers = 0;
    double variance = 0;
    double largest = 0;
    for (const TableErrors& table : errors) {
      if (table.orbit.size() != order) continue;
      tables += table.num_tables;
      answers += table.num_tables * table.num_answers;
      variance += table.num_tables * table.num_answers * table.mean_variance;
      largest = std::max(largest, table.max_variance);
    }
    if (tables == 0) continue;
    row(fmt::format("{:.15g} of {} {}", tables, order, order == 1 ? "attribute" : "attributes"),
        answers, variance / answers, largest);
  }
  return text;
}

// One unit of the budget, in what is printed of it.
struct BudgetColumn {
  std::string name, granted, before, release, left;
};

BudgetColumn ColumnOf(std::string name, const Rational& granted, const Rational& before,
                      const Rational& release) {
  const Rational left = granted - before - release;
  // Rounding the noise leaves a little.
  const bool is_used_up = left * 1000000 < granted;
  // In as many digits as show that the release is within what was granted.
  const auto [spent, of] = TextOfSpent(release, granted);
  return {std::move(name), of, TextAbove(before), spent, is_used_up ? "0" : TextBelow(left)};
}

// In the units that were granted.
std::string BudgetTable(const PrivacyCost& cost, const ReleaseFacts& facts) {
  const Ledger::Balance& balance = facts.balance;
  std::vector<BudgetColumn> columns;
  if (balance.granted > 0 || balance.granted_mu2 == 0) {
    columns.push_back(ColumnOf("rho", balance.granted / 2, facts.spent_before / 2, cost.pcost / 2));
  }
  if (balance.granted_mu2 > 0) {
    columns.push_back(
        ColumnOf("mu^2", balance.granted_mu2, facts.spent_mu2_before, cost.mu2.value_or(0)));
  }
  const auto row = [&](std::string_view name, std::string BudgetColumn::*value) {
    std::string text = name.empty() ? "| |" : fmt::format("| {} |", name);
    for (const BudgetColumn& column : columns) text += fmt::format(" {} |", column.*value);
    return text + "\n";
  };
  std::string text = row("", &BudgetColumn::name) + "|---|";
  for (size_t k = 0; k < columns.size(); ++k) text += "---|";
  text += "\n" + row("granted for this data", &BudgetColumn::granted) +
          row("spent before", &BudgetColumn::before) + row("this release", &BudgetColumn::release);
  // With grants of both kinds each release counts in one of them: what is left is the ledger's to
  // say.
  if (columns.size() == 1) text += row("left", &BudgetColumn::left);
  return text;
}

}  // namespace

std::string SummaryText(const PlanFile& file, const ReleaseFacts& facts) {
  const Plan& plan = file.plan;
  const PrivacyCost cost = CostOf(plan);
  const Guarantee guarantee = GuaranteeOf(cost, plan.budget.delta);
  const std::string rho = TextAbove(plan.pcost / 2);
  const std::string epsilon = TextAbove(guarantee.epsilon);
  const std::string delta = DeltaText(guarantee.delta);
  std::string text = "# A differentially private release\n\n";
  text += fmt::format("{} {} with {} {}, made with residua {}.\n\n", facts.num_tables,
                      facts.num_tables == 1 ? "table" : "tables", facts.num_answers,
                      facts.num_answers == 1 ? "answer" : "answers", Version());
  text += "## What is promised\n\n";
  text += WhoIsProtected(plan.protection) + "\n\n";
  if (facts.is_query) text += fmt::format("{}\n\n", kRowsOfQuery);
  text += fmt::format(
      "In figures: ({}, {})-differential privacy, zero-concentrated differential privacy with rho "
      "= {}{}; neighbouring tables: {}. The noise is discrete Gaussian, drawn exactly. The figures "
      "are rounded up, never down, and hold for that noise.\n\n",
      epsilon, delta, rho,
      guarantee.mu ? fmt::format(", and Gaussian differential privacy with mu = {}",
                                 TextAbove(*guarantee.mu))
                   : "",
      NeighboursInWords(plan.protection));
  text +=
      "The promise is about what this release adds to what is known. It does not hide what "
      "follows from the rest of the population. It covers this release alone: the budget below "
      "says what was spent on the same data before.\n\n";
  text += "## The budget\n\n";
  text += BudgetTable(cost, facts) + "\n";
  text += "## The errors\n\n";
  text += fmt::format(
      "Every estimate is unbiased: the noise is as likely to raise it as to lower it, so small "
      "counts may be negative. `std_dev` is its exact standard deviation, and the interval from "
      "`ci_lower` to `ci_upper` holds the true answer with probability {:g}. These errors come "
      "from the noise alone. They do not include errors in the data.\n\n",
      facts.confidence);
  text += ErrorsByTable(plan) + "\n";
  text += "## The files\n\n";
  text +=
      "- `tables/`: one file per table, one row per answer. The columns are the attributes, "
      "`estimate`, `std_dev`, `ci_lower` and `ci_upper`.\n"
      "- `measurements.parquet`: the noisy measurements that every table was made from. It is safe "
      "to publish, and complete by itself.\n"
      "- `plan.json`: the noise, as it was planned before the data was read.\n\n";
  text += "To ask more of the same measurements, at no further cost in privacy:\n\n";
  text +=
      "    residua query measurements.parquet 'ATTRIBUTE=VALUE ...'    a number with its error "
      "bar\n"
      "    residua query measurements.parquet --covariance Q1 Q2       two numbers, and their "
      "difference\n"
      "    residua tables measurements.parquet -o more                 the tables again, or other "
      "tables\n"
      "    residua verify measurements.parquet                         the privacy cost, "
      "recomputed\n\n";
  text += "## To cite\n\n";
  text += fmt::format(
      "State the guarantee with the numbers: \"({}, {})-differential privacy ({}-zCDP), {}; "
      "discrete Gaussian noise; residua {}\". This release is plan {}.\n",
      epsilon, delta, rho, ChangeInWords(plan.protection), Version(),
      PlanDigest(plan).substr(0, 23));
  return text;
}

}  // namespace residua
