#include "cli/expectation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/mean_report.h"
#include "cli/print_text.h"
#include "residua/base/counted.h"
#include "residua/release/published_errors.h"

namespace residua::cli {
namespace {

// Levels whose mean variances differ by more than this are pointed out: standard deviations by a
// half.
constexpr double kUnevenVariance = 2.25;

// A table of the plan, and what is expected of it.
struct ExpectedTable {
  AttributeSet attributes;
  const ExpectedErrors* expected;
};

// More than this are not worth listing.
constexpr double kMostExpectedTables = 10000;

std::vector<ExpectedTable> ListExpected(const Plan& plan, const Expectation& expectation) {
  if (expectation.num_tables > kMostExpectedTables) return {};
  std::vector<TableErrors> errors;
  for (const ExpectedErrors& orbit : expectation.orbits) errors.push_back(orbit.errors);
  std::vector<ExpectedTable> tables;
  for (ListedTable& table : ListTables(plan, errors)) {
    const auto k = static_cast<size_t>(table.errors - errors.data());
    tables.push_back({std::move(table.attributes), &expectation.orbits[k]});
  }
  return tables;
}

std::string Percent(double share) {
  if (share >= 10) return "> 999 %";
  return share >= 1 ? fmt::format("{:.0f} %", 100 * share) : fmt::format("{:.2g} %", 100 * share);
}

// Those with the largest errors, if there are many.
void PrintExpectedTables(const Plan& plan, const Expectation& expectation) {
  std::vector<ExpectedTable> tables = ListExpected(plan, expectation);
  if (tables.empty()) return;
  constexpr size_t kMaxShown = 20;
  const bool is_cut = tables.size() > kMaxShown;
  if (is_cut) {
    std::stable_sort(tables.begin(), tables.end(), [](const auto& a, const auto& b) {
      return a.expected->relative_error() > b.expected->relative_error();
    });
    tables.resize(kMaxShown);
  }
  size_t width = 5;
  for (const ExpectedTable& table : tables) {
    width = std::max(width, SetName(plan.domain, table.attributes).size());
  }
  PrintText(
      "\nErrors to expect, if {} ({}) were spread evenly over the cells{}:\n"
      "{:<{}}  {:>9}  {:>14}  {:>9}  {:>8}\n",
      Counted(static_cast<int64_t>(expectation.num_rows), "row"),
      expectation.is_public ? "as the spec says" : "a true count, not for publication",
      is_cut ? fmt::format("; of {:.15g} tables the {} with the largest", expectation.num_tables,
                           kMaxShown)
             : "",
      "table", width, "answers", "average answer", "std dev", "error");
  for (const ExpectedTable& table : tables) {
    const ExpectedErrors& of = *table.expected;
    PrintText("{:<{}}  {:>9}  {:>14.4g}  {:>9.4g}  {:>8}{}\n",
              SetName(plan.domain, table.attributes), width,
              fmt::format("{:.15g}", of.errors.num_answers), of.average_answer, of.std_dev,
              Percent(of.relative_error()), of.is_mostly_noise() ? "  mostly noise" : "");
  }
}

std::vector<MeanErrors> ExpectedMeans(const Plan& plan, const Expectation& expectation) {
  std::vector<AttributeSet> tables;
  for (const ExpectedTable& table : ListExpected(plan, expectation)) {
    tables.push_back(table.attributes);
  }
  return PredictMeanErrors(plan, tables);
}

void PrintExpectedMeans(const Plan& plan, const Expectation& expectation) {
  std::vector<MeanErrors> means = ExpectedMeans(plan, expectation);
  if (means.empty()) return;
  constexpr size_t kMaxShown = 20;
  if (means.size() > kMaxShown) {
    // Those with the fewest rows are last.
    means.erase(means.begin(), means.end() - kMaxShown);
    PrintText("\nThe {} largest of the tables with a mean:", kMaxShown);
  }
  PrintText("\n");
  PrintMeanErrors(plan, means, expectation.num_rows);
}

std::vector<HierarchyLevel> ExpectedLevels(const Plan& plan, const Expectation& expectation) {
  std::vector<TableErrors> errors;
  for (const ExpectedErrors& orbit : expectation.orbits) errors.push_back(orbit.errors);
  return ByLevel(plan, errors);
}

// An answer of the level, if the rows were spread evenly over its places, in an average table.
void PrintExpectedLevels(const Plan& plan, const Expectation& expectation) {
  const std::vector<HierarchyLevel> levels = ExpectedLevels(plan, expectation);
  if (levels.empty()) return;
  size_t width = 5;
  for (const HierarchyLevel& level : levels) {
    width = std::max(width, LevelInWords(plan.domain, level).size());
  }
  PrintText("\nThe same by level, in all tables with the attribute:\n{:<{}}  {:>9}  {:>7}  {:>9}\n",
            "level", width, "answers", "std dev", "largest");
  for (const HierarchyLevel& level : levels) {
    PrintText("{:<{}}  {:>9}  {:>7.4g}  {:>9.4g}\n", LevelInWords(plan.domain, level), width,
              fmt::format("{:.15g}", level.num_answers), std::sqrt(level.mean_variance),
              std::sqrt(level.max_variance));
  }
  std::string uneven;  // attributes of which a level is far worse than another
  for (const HierarchyLevel& a : levels) {
    if (!plan.domain[a.attribute].level_weights.empty()) continue;
    const bool is_worse = std::any_of(levels.begin(), levels.end(), [&](const HierarchyLevel& b) {
      return a.attribute == b.attribute && a.level > b.level &&
             a.mean_variance > kUnevenVariance * b.mean_variance;
    });
    if (is_worse) uneven = plan.domain[a.attribute].name;
  }
  if (uneven.empty()) return;
  PrintText(
      "The groups of {} have larger errors than its values, for most answers are values. To give "
      "each level the\nsame importance, add level_weights = \"equal\" to the attribute.\n",
      uneven);
}

}  // namespace

Expectation ExpectationOf(const Spec& spec, const SpecCheck& check) {
  Expectation expectation;
  expectation.is_public = spec.public_rows.has_value();
  expectation.num_rows =
      static_cast<double>(spec.public_rows.value_or(NumRowsCounted(check.report)));
  expectation.orbits = ExpectErrors(check.plan, expectation.num_rows);
  for (const ExpectedErrors& orbit : expectation.orbits) {
    expectation.num_tables += orbit.errors.num_tables;
    if (orbit.is_mostly_noise()) expectation.num_mostly_noise += orbit.errors.num_tables;
  }
  return expectation;
}

Json ExpectationJson(const Plan& plan, const Expectation& expectation) {
  const Domain& domain = plan.domain;
  Json json = {{"rows", expectation.num_rows},
               {"rows_are_public", expectation.is_public},
               {"num_tables", expectation.num_tables},
               {"num_mostly_noise", expectation.num_mostly_noise},
               {"tables", Json::array()}};
  const std::vector<MeanErrors> means = ExpectedMeans(plan, expectation);
  auto mean = means.begin();
  for (const ExpectedTable& table : ListExpected(plan, expectation)) {
    const ExpectedErrors& of = *table.expected;
    Json names = Json::array();
    for (const int i : table.attributes) names.push_back(domain[i].name);
    json["tables"].push_back({{"attributes", names},
                              {"answers", of.errors.num_answers},
                              {"average_answer", of.average_answer},
                              {"std_dev", of.std_dev},
                              {"relative_error", of.relative_error()}});
    if (MeanAttribute(domain, table.attributes) >= 0) {
      json["tables"].back()["mean"] = MeanErrorsJson(plan, *mean++, expectation.num_rows);
    }
  }
  for (const HierarchyLevel& level : ExpectedLevels(plan, expectation)) {
    json["levels"].push_back({{"attribute", domain[level.attribute].name},
                              {"level", level.level},
                              {"places", level.num_places},
                              {"answers", level.num_answers},
                              {"std_dev", std::sqrt(level.mean_variance)},
                              {"largest_std_dev", std::sqrt(level.max_variance)}});
  }
  return json;
}

void PrintExpectation(const Plan& plan, const Expectation& expectation) {
  if (!(expectation.num_rows > 0)) return;
  PrintExpectedTables(plan, expectation);
  PrintExpectedMeans(plan, expectation);
  PrintExpectedLevels(plan, expectation);
  if (!(expectation.num_mostly_noise > 0)) return;
  PrintText(
      "Mostly noise: {:.15g} of {:.15g} tables. Leave them out, make their cells coarser, or spend "
      "more.\n",
      expectation.num_mostly_noise, expectation.num_tables);
}

}  // namespace residua::cli
