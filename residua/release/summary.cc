#include "residua/release/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "residua/base/counted.h"
#include "residua/base/version.h"
#include "residua/files/table_names.h"
#include "residua/privacy/suspicion.h"
#include "residua/release/attribute_words.h"
#include "residua/release/published_errors.h"
#include "residua/release/warnings.h"
#include "residua/select/mean_errors.h"

namespace residua {
namespace {

// More tables than a reader looks at are summarised by their number of attributes.
constexpr double kMaxSummaryTables = 200;

// Text of the publisher's as part of a row of a table.
std::string InTable(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return cell;
}

std::string Heading(const ReleaseFacts& facts) {
  const ReleaseText& about = facts.text;
  std::string text = fmt::format(
      "# {}\n\n", about.title.empty() ? "A differentially private release" : about.title);
  if (!about.description.empty()) text += about.description + "\n\n";
  const auto line = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("- {}: {}\n", name, value);
  };
  line("Published by", about.publisher);
  line("Date", about.date);
  line("Contact", about.contact);
  line("Licence", about.licence);
  if (text.back() != '\n' || text[text.size() - 2] != '\n') text += "\n";
  return text;
}

std::string WhatIsARow(const Protection& protection, bool is_query) {
  std::string text = is_query
                         ? "The data is the result of a query, and a row is a row of that result. "
                           "If the query joins tables, groups rows or limits their number, one row "
                           "of the original tables may affect several rows, and is then protected "
                           "less than one row.\n\n"
                         : "";
  if (protection.identifier.empty()) {
    return text +
           "The tables count rows of the data. If a person can have several rows, each is "
           "counted.\n\n";
  }
  const std::string identifier = MarkdownCode(protection.identifier);
  return text + fmt::format(
                    "The tables count rows of the data. For each {}, at most {} counted, "
                    "chosen at random, and rows without one were left out. So the counts "
                    "can be below those of all rows.\n\n",
                    identifier,
                    protection.max_rows == 1 ? "one row was"
                                             : fmt::format("{} rows were", protection.max_rows));
}

bool HasTimes(const Plan& plan) {
  const auto& attributes = plan.domain.attributes();
  return std::any_of(attributes.begin(), attributes.end(), [](const Attribute& attribute) {
    const auto& cells = attribute.encoding.cells;
    return std::holds_alternative<DateEncoding>(cells) ||
           std::holds_alternative<PartEncoding>(cells);
  });
}

// How the values of all attributes were read.
std::string HowValuesWereRead(const PlanFile& file) {
  std::string text;
  if (!file.data.null_values.empty()) {
    std::string texts;
    for (const std::string& value : file.data.null_values) {
      texts += fmt::format("{}{}", texts.empty() ? "" : ", ", MarkdownCode(value));
    }
    text += fmt::format("These texts were taken as missing values: {}.\n\n", texts);
  }
  if (HasTimes(file.plan)) {
    text += "Times that state a time zone were taken in UTC, all others as they stand.\n\n";
  }
  return text;
}

// For readers who read no further.
std::string InShort(const Plan& plan, const Guarantee& guarantee, const ReleaseFacts& facts) {
  const Protection& protection = plan.protection;
  const bool is_replaced = protection.neighbours == Protection::Neighbours::kReplaceOne;
  return fmt::format(
      "**In short:** {} of counts{}, with random noise added to every {}. From this release, a "
      "suspicion of 50 % {} {} can grow to at most {}. A typical count is off by about {:.3g}.\n\n",
      Counted(facts.num_tables, "table"), HasMeans(plan.domain) ? ", sums and means" : "",
      HasMeans(plan.domain) ? "count and sum" : "count",
      is_replaced ? "about" : "that the data includes",
      protection.identifier.empty()
          ? "a certain row"
          : fmt::format("a certain {}", MarkdownCode(protection.identifier)),
      PercentAbove(GrownSuspicion(0.5, guarantee.epsilon)), SummarizePublished(plan).rms_std_dev);
}

std::string WhatWasPublished(const PlanFile& file, const ReleaseFacts& facts) {
  const Plan& plan = file.plan;
  std::string text = fmt::format(
      "## What was published\n\n{} with {}. Each answer is a count with random noise added{}. {}",
      Counted(facts.num_tables, "table"), Counted(facts.num_answers, "answer"),
      HasMeans(plan.domain)
          ? "; where a number was measured, it is a count, a sum with noise, and their ratio, the "
            "mean"
          : "",
      WhatIsARow(plan.protection, facts.is_query));
  if (!plan.parts.empty()) {
    text += fmt::format(
        "The answers are the best estimates from {} of the same data together, so their errors are "
        "smaller than those of each alone.\n\n",
        Counted(std::ssize(plan.parts), "release"));
  }
  text += "The tables are about these attributes:\n\n";
  for (const Attribute& attribute : plan.domain.attributes()) {
    text += fmt::format("- {}\n", DescribeAttribute(attribute));
  }
  return text + "\n" + HowValuesWereRead(file);
}

// What a reader who knows everything else may be unsure of.
std::string Suspicion(const Protection& protection) {
  if (protection.neighbours == Protection::Neighbours::kReplaceOne) {
    return "which of two rows is the one in the data";
  }
  if (protection.identifier.empty()) return "whether a certain row is in the data";
  return fmt::format("whether the rows of a certain {} are in the data",
                     MarkdownCode(protection.identifier));
}

// The words follow from epsilon and delta.
std::string TheWorstCase(const Protection& protection, const Guarantee& guarantee) {
  const double suspicion = GrownSuspicion(0.5, guarantee.epsilon);
  std::string text = fmt::format(
      "Suppose that someone knows all of the data but one thing: {}. They think that both are "
      "equally likely: 50 %. After they have seen this release, they can be at most {} sure of "
      "either. This holds whatever they know and compute, except with a probability of at most "
      "{}.\n\n",
      Suspicion(protection), PercentAbove(suspicion), OneIn(guarantee.delta));
  if (!(guarantee.epsilon <= kLargeEpsilon)) {
    text += "**This promise is weak.** In the worst case it leaves almost no doubt.\n\n";
  }
  return text;
}

std::string HowPrivate(const Plan& plan, const Guarantee& guarantee) {
  const Protection& protection = plan.protection;
  std::string text = "## How private it is\n\n" + TheWorstCase(protection, guarantee);
  if (protection.neighbours == Protection::Neighbours::kReplaceOne) {
    text += "The number of rows is not protected: it is taken as known.\n\n";
  }
  if (protection.identifier.empty()) {
    text += "This is the promise for one row. A person with several rows is protected less.\n\n";
  }
  text +=
      "The promise is about what this release adds to what is known. It does not hide what follows "
      "from the rest of the population. It covers ";
  text +=
      plan.parts.empty()
          ? "this release alone: see the budget below for other releases of the same data.\n\n"
          : fmt::format(
                "this release together with {} that it is combined with: see the budget below for "
                "other releases of the same data.\n\n",
                plan.parts.size() == 2 ? "the earlier one"
                                       : fmt::format("the {} earlier ones", plan.parts.size() - 1));
  return text;
}

std::string ErrorsByTable(const Plan& plan, const std::vector<TableErrors>& errors) {
  double num_tables = 0;
  for (const TableErrors& table : errors) num_tables += table.num_tables;
  std::string text =
      "| table | answers | standard deviation, root mean square | largest |\n|---|---|---|---|\n";
  const auto row = [&](const std::string& name, double answers, double mean, double largest) {
    text += fmt::format("| {} | {:.15g} | {:.4g} | {:.4g} |\n", InTable(name), answers,
                        std::sqrt(mean), std::sqrt(largest));
  };
  if (num_tables <= kMaxSummaryTables) {
    for (const ListedTable& table : ListTables(plan, errors)) {
      row(SetName(plan.domain, table.attributes), table.errors->num_answers,
          table.errors->mean_variance, table.errors->max_variance);
    }
  } else {
    for (const OrderErrors& order : ByOrder(errors)) {
      row(fmt::format("{:.15g} of {}", order.num_tables,
                      Counted(static_cast<int64_t>(order.num_attributes), "attribute")),
          order.num_answers, order.mean_variance, order.max_variance);
    }
  }
  const std::vector<HierarchyLevel> levels = ByLevel(plan, errors);
  if (levels.empty()) return text;
  text +=
      "\nBy level of a hierarchy, in all tables with the attribute:\n\n"
      "| level | answers | standard deviation, root mean square | largest |\n|---|---|---|---|\n";
  for (const HierarchyLevel& level : levels) {
    row(LevelInWords(plan.domain, level), level.num_answers, level.mean_variance,
        level.max_variance);
  }
  return text;
}

// Of the tables that have one, if there are not too many tables.
std::string ErrorsOfMeans(const Plan& plan, const std::vector<TableErrors>& errors) {
  if (!HasMeans(plan.domain)) return "";
  std::string text =
      "Tables with a number have a sum and a mean beside the count, in the unit of the number. The "
      "interval of a mean, from `mean_ci_lower` to `mean_ci_upper`, contains the true mean as "
      "often "
      "as said above; a mean and its interval lie within the range of the number, which is public. "
      "Where `mean_note` says `too few rows`, the noise is too large for a mean of so few "
      "rows.\n\n";
  double num_tables = 0;
  for (const TableErrors& table : errors) num_tables += table.num_tables;
  if (num_tables > kMaxSummaryTables) {
    return text +
           "The standard deviations above are those of counts. The tables say how exact each sum "
           "and mean is.\n\n";
  }
  std::vector<AttributeSet> tables;
  for (const ListedTable& table : ListTables(plan, errors)) tables.push_back(table.attributes);
  text +=
      "| table | answers | standard deviation of the sum | of the mean, at most |\n"
      "|---|---|---|---|\n";
  for (const MeanErrors& of : PredictMeanErrors(plan, tables)) {
    text += fmt::format("| {} | {:.15g} | {:.4g} | {:.4g} / number of rows |\n",
                        InTable(SetName(plan.domain, of.table)), of.num_answers,
                        std::sqrt(of.sum_variance), std::sqrt(of.most_variance));
  }
  return text + "\n";
}

std::string HowExact(const Plan& plan, double confidence) {
  const std::vector<TableErrors> errors = CountErrors(plan);
  return fmt::format(
      "## How exact it is\n\n"
      "A typical answer is off by about {:.3g}. The noise is as likely to raise an answer as to "
      "lower "
      "it, so small counts may be negative. The tables say for each answer how large its noise "
      "is:\n\n"
      "- `std_dev` is the standard deviation of the noise. About two thirds of the answers are "
      "within one standard deviation of the true count, and about 95 % within two.\n"
      "- The interval from `ci_lower` to `ci_upper` contains the true count in {:.15g} % of all "
      "cases.\n\n"
      "A count that is not much larger than its standard deviation says little. These errors come "
      "from the noise alone: errors in the data are not included. For each table, the standard "
      "deviation of its {}, as root mean square (a kind of average) and the largest:\n\n"
      "{}\n{}",
      SummarizePublished(plan).rms_std_dev, confidence * 100,
      HasMeans(plan.domain) ? "counts" : "answers", ErrorsByTable(plan, errors),
      ErrorsOfMeans(plan, errors));
}

// One unit of the budget, in what is printed of it.
struct BudgetColumn {
  std::string name, granted, before, release, left;
  std::string before_share, release_share, left_share;  // of what was granted, in percent
};

// `part` of `whole` in percent with one decimal, rounded up or down.
std::string Share(const Rational& part, const Rational& whole, bool is_up) {
  if (!(whole > 0)) return "";
  const Rational thousandths = part / whole * 1000;
  Integer rounded = thousandths.get_num() / thousandths.get_den();
  if (is_up && rounded < thousandths) ++rounded;
  return fmt::format("{:.15g} %", rounded.get_d() / 10);
}

BudgetColumn ColumnOf(std::string name, const Rational& granted, const Rational& before,
                      const Rational& release) {
  const Rational left = granted - before - release;
  // Rounding the noise leaves a little.
  const bool is_used_up = left * 1000000 < granted;
  // In as many digits as show that the release is within what was granted.
  const auto [spent, of] = TextOfSpent(release, granted);
  return {std::move(name),
          of,
          TextAbove(before),
          spent,
          is_used_up ? "0" : TextBelow(left),
          Share(before, granted, /*is_up=*/true),
          Share(release, granted, /*is_up=*/true),
          Share(left, granted, /*is_up=*/false)};
}

// In the units that were granted.
std::vector<BudgetColumn> BudgetColumns(const PrivacyCost& cost, const ReleaseFacts& facts) {
  const Ledger::Balance& before = facts.before;
  std::vector<BudgetColumn> columns;
  if (before.granted > 0 || before.granted_mu2 == 0) {
    columns.push_back(ColumnOf("rho", before.granted / 2, before.spent / 2, cost.pcost / 2));
  }
  if (before.granted_mu2 > 0) {
    columns.push_back(ColumnOf("mu^2", before.granted_mu2, before.spent_mu2, cost.mu2.value_or(0)));
  }
  return columns;
}

std::string TheBudget(const std::vector<BudgetColumn>& columns) {
  std::string text =
      "## The budget\n\n"
      "Every release of the same data lowers the protection. So a budget was set for this data, "
      "and "
      "all its releases together may not spend more.";
  // With grants of both kinds each release counts in one of them.
  if (columns.size() > 1) {
    return text + " It is counted in two units, see the end of this page.\n\n";
  }
  const BudgetColumn& shares = columns.front();
  return text + fmt::format(
                    "\n\n| | share of the budget |\n|---|---|\n| spent before | {} |\n"
                    "| this release | {} |\n| left | {} |\n\n",
                    shares.before_share, shares.release_share, shares.left_share);
}

std::string BudgetInUnits(const std::vector<BudgetColumn>& columns) {
  const auto row = [&](std::string_view name, std::string BudgetColumn::*value) {
    std::string text = name.empty() ? "| |" : fmt::format("| {} |", name);
    for (const BudgetColumn& column : columns) text += fmt::format(" {} |", column.*value);
    return text + "\n";
  };
  std::string text = row("", &BudgetColumn::name) + "|---|";
  for (size_t k = 0; k < columns.size(); ++k) text += "---|";
  text += "\n" + row("granted for this data", &BudgetColumn::granted) +
          row("spent before", &BudgetColumn::before) + row("this release", &BudgetColumn::release);
  // What is left of two units is the ledger's to say.
  if (columns.size() == 1) text += row("left", &BudgetColumn::left);
  return text;
}

// Columns that a reader would not expect.
std::string UnusualColumns(const Domain& domain, const TableNames& names) {
  std::string text;
  for (int i = 0; i < domain.size(); ++i) {
    const auto k = static_cast<size_t>(i);
    if (names.columns[k] != domain[i].name) {
      text += fmt::format(" The column of {} is called {}.", MarkdownCode(domain[i].name),
                          MarkdownCode(names.columns[k]));
    }
    if (!names.level_columns[k].empty()) {
      text += fmt::format(
          " {} is 0 for single values and 1 or more for groups: keep the rows of one level before "
          "you add up.",
          MarkdownCode(names.level_columns[k]));
    }
    if (HasBounds(domain[i])) {
      text += fmt::format(
          " {} and {} are the least and the greatest value that a row counts; rows overlap, so do "
          "not add them up.",
          MarkdownCode(names.lower_columns[k]), MarkdownCode(names.upper_columns[k]));
    }
  }
  return text;
}

std::string TheFiles(const Plan& plan) {
  const bool is_combined = !plan.parts.empty();
  const std::string_view file = is_combined ? "combined.parquet" : "measurements.parquet";
  const std::string_view measurements =
      is_combined
          ? "- `combined.parquet`: the noisy measurements of all these releases together, which "
            "every table was made from. It is safe to publish, and complete by itself.\n"
            "- `measurements.parquet`: the noisy measurements of this release alone.\n"
          : "- `measurements.parquet`: the noisy measurements that every table was made from. It "
            "is "
            "safe to publish, and complete by itself.\n";
  return fmt::format(
      "## The files\n\n"
      "- `index.html`: this release as a page to look at. It shows every table, and answers "
      "questions. Open it in a browser; it needs no network.\n"
      "- `tables/`: one file per table, one row per answer. The columns are the attributes, "
      "`estimate`, `std_dev`, `ci_lower` and `ci_upper`.{0}\n"
      "{1}"
      "- `plan.json`: the noise, as it was planned before the data was read.\n\n"
      "To ask more of the same measurements, at no further cost in privacy, with the program "
      "residua:\n\n"
      "    residua query {2} 'ATTRIBUTE=VALUE ...'    a number with its error "
      "bar\n"
      "    residua query {2} --covariance Q1 Q2       two numbers, and their "
      "difference\n"
      "    residua tables {2} -o more                 the tables again, or other "
      "tables\n"
      "    residua verify {2}                         the privacy cost, "
      "recomputed\n\n",
      UnusualColumns(plan.domain, NamesOf(plan.domain)), measurements, file);
}

std::string ForSpecialists(const Plan& plan, const Guarantee& guarantee, const ReleaseFacts& facts,
                           const std::vector<BudgetColumn>& budget) {
  const std::string rho = TextAbove(plan.pcost / 2);
  const std::string epsilon = TextAbove(guarantee.epsilon);
  const std::string delta = DeltaText(guarantee.delta);
  return fmt::format(
      "## For specialists, and to cite\n\n"
      "({}, {})-differential privacy, zero-concentrated differential privacy with rho = {}{}; "
      "neighbouring tables: {}. The noise is discrete Gaussian, drawn exactly. The figures are "
      "rounded up, never down, and hold for that noise.{}\n\n"
      "State the guarantee with the numbers: \"({}, {})-differential privacy ({}-zCDP), {}; "
      "discrete Gaussian noise; residua {}\". This release is the plan with the digest "
      "`{}`, as `plan.json` shows it.\n\n"
      "The costs of releases add up in {}:\n\n{}",
      epsilon, delta, rho,
      guarantee.mu ? fmt::format(", and Gaussian differential privacy with mu = {}",
                                 TextAbove(*guarantee.mu))
                   : "",
      NeighboursInWords(plan.protection),
      plan.protection.identifier.empty() ? " For a person with k rows, rho is k^2 times as large."
                                         : "",
      epsilon, delta, rho, ChangeInWords(plan.protection), Version(), facts.plan_digest,
      budget.size() > 1 ? "rho and in mu^2, the square of mu; each counts in one of them"
      : facts.before.granted_mu2 > 0 ? "mu^2, the square of mu"
                                     : "rho",
      BudgetInUnits(budget));
}

}  // namespace

std::string SummaryText(const PlanFile& file, const ReleaseFacts& facts) {
  const Plan& plan = file.plan;
  const Guarantee guarantee = GuaranteeOf(plan);
  const std::vector<BudgetColumn> budget =
      BudgetColumns(facts.measured_cost ? *facts.measured_cost : CostOf(plan), facts);
  return Heading(facts) + InShort(plan, guarantee, facts) + WhatWasPublished(file, facts) +
         HowPrivate(plan, guarantee) + HowExact(plan, facts.confidence) + TheBudget(budget) +
         TheFiles(plan) + ForSpecialists(plan, guarantee, facts, budget);
}

}  // namespace residua
