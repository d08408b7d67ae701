#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/commands.h"
#include "cli/expectation_report.h"
#include "cli/interruption.h"
#include "cli/mean_report.h"
#include "cli/plan_report.h"
#include "cli/print_text.h"
#include "cli/progress.h"
#include "cli/words.h"
#include "residua/base/counted.h"
#include "residua/base/error.h"
#include "residua/data/database_url.h"
#include "residua/draft/check_spec.h"
#include "residua/files/file.h"
#include "residua/measure/remote/joint_cells.h"
#include "residua/release/data_places.h"
#include "residua/release/measure_to_file.h"
#include "residua/release/warnings.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

struct CheckOptions {
  std::string spec;
  bool json = false;
};

std::string_view WhatHappens(const Attribute& attribute) {
  switch (attribute.encoding.outside) {
    case OutsidePolicy::kError:
      return "measuring stops";
    case OutsidePolicy::kClamp:
      return "moved to the nearest end";
    case OutsidePolicy::kDrop:
      return "their rows are left out";
    case OutsidePolicy::kNull:
      return "counted as missing";
    case OutsidePolicy::kOther:
      return "counted as other";
  }
  RESIDUA_CHECK(false);
}

void PrintAttributes(const Domain& domain, const ReadReport& report) {
  size_t width = 9;
  for (const Attribute& attribute : domain.attributes()) {
    width = std::max(width, attribute.name.size());
  }
  PrintText("{:<{}}  {:>7}  {:>8}  {:>8}  values outside: what happens\n", "attribute", width,
            "cells", "outside", "missing");
  for (int i = 0; i < domain.size(); ++i) {
    const AttributeReport& found = report.attributes[static_cast<size_t>(i)];
    PrintText("{:<{}}  {:>7}  {:>8}  {:>8}  {}{}\n", domain[i].name, width, domain[i].size,
              found.num_outside, found.num_missing, WhatHappens(domain[i]),
              domain[i].encoding.null_cell ? "; missing values have a cell" : "");
  }
  constexpr size_t kMaxShown = 8;
  for (int i = 0; i < domain.size(); ++i) {
    const AttributeReport& found = report.attributes[static_cast<size_t>(i)];
    if (found.outside.empty()) continue;
    std::vector<std::pair<std::string, int64_t>> values(found.outside.begin(), found.outside.end());
    std::stable_sort(values.begin(), values.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    PrintText("\n{}: values outside its domain:", domain[i].name);
    for (size_t k = 0; k < std::min(values.size(), kMaxShown); ++k) {
      PrintText("{} {} ({}x)", k > 0 ? "," : "", values[k].first, values[k].second);
    }
    PrintText("{}\n", values.size() > kMaxShown ? " and others" : "");
  }
}

// The values of an attribute that stop a release, in words.
std::vector<std::string> StoppingWords(const Attribute& attribute) {
  const StoppingValues stopping = StoppingValuesOf(attribute.encoding);
  std::vector<std::string> words;
  if (stopping.outside) words.emplace_back("values outside");
  const auto& cells = attribute.encoding.cells;
  const bool is_date =
      std::holds_alternative<DateEncoding>(cells) || std::holds_alternative<PartEncoding>(cells);
  if (stopping.unreadable) {
    words.emplace_back(is_date ? "values that are not dates" : "values that are not numbers");
  }
  if (stopping.missing) words.emplace_back("missing values");
  return words;
}

// The values that stop a release, whether or not this data has any: stopping may reveal a single
// row.
void PrintStoppingValues(const Domain& domain) {
  bool is_first = true;
  for (const Attribute& attribute : domain.attributes()) {
    const std::vector<std::string> words = StoppingWords(attribute);
    if (words.empty()) continue;
    if (is_first) {
      PrintText(
          "\nA single row can stop a release. Whoever sees it stop learns that there is such a "
          "row:\n");
    }
    is_first = false;
    PrintText("  {}: {}\n", attribute.name, fmt::join(words, ", "));
  }
  if (is_first) return;
  PrintText(
      "To never stop: outside = \"drop\", or null = true with outside = \"null\", \"clamp\" or "
      "\"other\".\n");
}

// What a row is, if the data is a query.
void PrintQuery(const QueryShape& query) {
  PrintText("\nWhat is counted and protected is one row of the query's result.\n");
  if (query.operations.empty()) return;
  PrintText(
      "warning: the query {}. One row of a table may then be in several rows of the result, or "
      "change other rows, and is protected less than one row of the result.\n",
      InWords(query));
}

// What it takes to have a database count the rows.
std::string JointCellsInWords(const SpecCheck& check) {
  const auto bytes = static_cast<double>(check.joint_bytes);
  return fmt::format("All attributes together have {} of at most {}; their counters take {} here.",
                     Counted(check.num_joint_cells, "cell"), kMaxJointCells,
                     bytes < 1e6 ? fmt::format("{:.0f} kB", std::ceil(bytes / 1e3))
                                 : fmt::format("{:.1f} MB", bytes / 1e6));
}

// Whether the rows leave their database, and whether they must.
void PrintPushDown(const DataReference& data, const SpecCheck& check) {
  if (!IsDatabaseUrl(data.database)) return;
  if (data.push_down) {
    PrintText(
        "The rows stay in the database. It counts them: what leaves it are numbers of cells, and "
        "how many rows each\ncombination of them has. These are true counts, held in memory "
        "only.\n{}\n",
        JointCellsInWords(check));
  } else if (check.push_down_fault) {
    PrintText("The rows are read. The database cannot count them itself: {}.\n",
              PlainWords(check.push_down_fault->problem()));
  } else {
    PrintText(
        "The rows are read. If they may not leave the database, set push_down = true in [data]: it "
        "counts them itself.\n{}\n",
        JointCellsInWords(check));
  }
}

// How many rows other choices of max_rows would keep, and what they cost.
void PrintRowsKept(const ReadReport& report, const Protection& protection) {
  const std::vector<RowsKept> choices = RowsKeptByMaxRows(report, protection.max_rows);
  if (choices.empty()) return;
  int64_t num_rows = 0;
  for (const auto& [rows, identifiers] : report.identifiers_by_rows) {
    num_rows += rows * identifiers;
  }
  PrintText(
      "\nRows kept with other choices of max_rows (true counts, not for publication):\n"
      "{:>9}  {:>12}  {:>7}  noise\n",
      "max_rows", "rows kept", "of all");
  for (const RowsKept& choice : choices) {
    const bool is_chosen = choice.max_rows == protection.max_rows;
    PrintText("{:>9}  {:>12}  {:>5.1f} %  {}\n", choice.max_rows, choice.num_rows,
              100 * static_cast<double>(choice.num_rows) /
                  static_cast<double>(std::max<int64_t>(num_rows, 1)),
              is_chosen ? "as planned"
                        : fmt::format("x {:.3g}", static_cast<double>(choice.max_rows) /
                                                      static_cast<double>(protection.max_rows)));
  }
  PrintText(
      "The guarantee does not cover a max_rows that was chosen by looking at the data: choose one "
      "that is\nplausible without it.\n");
}

std::string Seconds(double seconds) {
  if (seconds < 1) return "under a second";
  if (seconds < 120) return fmt::format("about {:.0f} s", seconds);
  return fmt::format("about {:.0f} min", seconds / 60);
}

std::string Memory(double bytes) {
  return bytes < 1e9 ? fmt::format("about {:.0f} MB", bytes / 1e6)
                     : fmt::format("about {:.1f} GB", bytes / 1e9);
}

// By the number of rows that the expected errors are for.
std::vector<ReleaseWarning> AllWarnings(const SpecCheck& check, const Expectation& expectation) {
  std::vector<ReleaseWarning> warnings =
      WarningsOf(check.plan, static_cast<int64_t>(expectation.num_rows));
  if (check.obstacles.empty()) {
    for (const ReleaseWarning& warning : WarningsOf(check.report)) warnings.push_back(warning);
  }
  return warnings;
}

// Where the spec's number of rows is not that of the data.
void PrintOtherRows(const Expectation& expectation, int64_t num_counted) {
  const auto num_rows = static_cast<int64_t>(expectation.num_rows);
  if (!expectation.is_public || num_rows == num_counted) return;
  PrintText(
      "\nThe spec says {}, and {} counted. The errors above, and warnings about delta and noise, "
      "are for\nthe number in the spec.\n",
      Counted(num_rows, "row"), num_counted == 1 ? "1 is" : fmt::format("{} are", num_counted));
}

Json CheckJson(const std::string& name, const Spec& spec, const SpecCheck& check) {
  const ReadReport& report = check.report;
  Json json = {{"spec", name},
               {"rows", report.num_rows_read},
               {"rows_without_identifier", report.num_rows_without_identifier},
               {"rows_beyond_max_rows", report.num_rows_over},
               {"query_operations", Json::array()},
               {"memory_bytes", std::round(check.memory_bytes)},
               {"seconds", check.seconds},
               {"better_alone", BetterAloneJson(spec.domain, check.better_alone)},
               {"obstacles", Json::array()},
               {"push_down", spec.data.push_down},
               {"can_push_down", !check.push_down_fault},
               {"joint_cells", check.num_joint_cells},
               {"joint_bytes", check.joint_bytes},
               {"warnings", Json::array()},
               {"attributes", Json::array()}};
  for (const RowOperation operation : report.query.operations) {
    json["query_operations"].push_back(InWords(operation));
  }
  json["rows_kept"] = Json::array();
  for (const RowsKept& choice : RowsKeptByMaxRows(report, spec.protection.max_rows)) {
    json["rows_kept"].push_back({{"max_rows", choice.max_rows}, {"rows", choice.num_rows}});
  }
  const Expectation expectation = ExpectationOf(spec, check);
  json["expected_errors"] = ExpectationJson(check.plan, expectation);
  for (const int i : MeansKeptApart(spec.domain, spec.workload)) {
    json["means_kept_apart"].push_back(spec.domain[i].name);
  }
  for (const Error& obstacle : check.obstacles) {
    json["obstacles"].push_back(WordedForRelease(obstacle));
  }
  for (const ReleaseWarning& warning : AllWarnings(check, expectation)) {
    json["warnings"].push_back(Worded(warning));
  }
  for (int i = 0; i < spec.domain.size(); ++i) {
    const AttributeReport& found = report.attributes[static_cast<size_t>(i)];
    json["attributes"].push_back({{"name", spec.domain[i].name},
                                  {"cells", spec.domain[i].size},
                                  {"outside", found.num_outside},
                                  {"missing", found.num_missing},
                                  {"may_stop", StoppingWords(spec.domain[i])},
                                  {"values_outside", found.outside}});
  }
  return json;
}

void Print(const std::string& name, const Spec& spec, const SpecCheck& check) {
  const ReadReport& report = check.report;
  PrintText("{} {}; these are true counts of the data, not for publication\n\n",
            Counted(report.num_rows_read, "row"), spec.data.push_down ? "in the database" : "read");
  PrintAttributes(spec.domain, report);
  if (report.num_rows_without_identifier > 0) {
    PrintText("\nRows without '{}', to be left out: {}\n", spec.protection.identifier,
              report.num_rows_without_identifier);
  }
  if (report.num_rows_over > 0) {
    PrintText("\nRows beyond the max_rows of their '{}', to be left out at random: {}\n",
              spec.protection.identifier, report.num_rows_over);
  }
  PrintRowsKept(report, spec.protection);
  PrintStoppingValues(spec.domain);
  if (!spec.data.query.empty()) PrintQuery(report.query);
  PrintPushDown(spec.data, check);
  const Expectation expectation = ExpectationOf(spec, check);
  PrintExpectation(check.plan, expectation);
  if (const std::string words = LeftOutInWords(spec.domain, spec.workload); !words.empty()) {
    PrintText("\nLeft out: {}.\n", words);
  }
  PrintOtherRows(expectation, NumRowsCounted(report));
  const std::vector<ReleaseWarning> warnings = AllWarnings(check, expectation);
  if (!warnings.empty()) PrintText("\n");
  for (const ReleaseWarning& warning : warnings) PrintText("warning: {}\n", Worded(warning));
  PrintText("\nA release will take {} of memory and {}.\n", Memory(check.memory_bytes),
            Seconds(check.seconds));
  if (check.better_alone.num_tables > 0) {
    PrintText(
        "Better off with noise of their own and an equal share of the budget: {}. To help them, "
        "give them a larger weight.\n",
        NamesInWords(spec.domain, check.better_alone));
  }
  for (const Error& obstacle : check.obstacles) {
    PrintText("To fix before a release: {}\n", WordedForRelease(obstacle));
  }
  if (check.obstacles.empty()) {
    PrintText("Ready to release: residua release {} -o DIR\n", name);
  }
}

void Run(const CheckOptions& options) {
  const Spec spec = ReadReleasableSpec(options.spec);
  const DataPlaces places = FindPlaces(spec.data, FolderOf(options.spec));
  std::stop_token stop;
  if (IsDatabaseUrl(places.data.database)) {
    stop = StopOnInterruption("\nresidua: interrupted; nothing is spent\n");
  }
  SpecCheck check;
  {
    std::optional<ElapsedTime> planning("Planning");
    Progress progress("Reading");
    const auto on_rows = [&](int64_t num_rows) {
      planning.reset();
      progress.ShowRows(num_rows);
    };
    check = CheckSpec(spec, options.spec, places.data, on_rows, stop);
  }
  if (auto refusal = FindSpendRefusal({check.plan, {}}, places)) {
    check.obstacles.push_back(*std::move(refusal));
  }
  if (options.json) {
    fmt::print("{}\n", IndentedJson(CheckJson(options.spec, spec, check)));
  } else {
    Print(options.spec, spec, check);
  }
  std::fflush(stdout);
  if (!check.obstacles.empty()) {
    Fail(ErrorKind::kBadInput, "{}: {} to fix before a release", options.spec,
         Counted(std::ssize(check.obstacles), "problem"));
  }
}

}  // namespace

void AddCheckCommand(CLI::App* app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app->add_subcommand("check",
                                          "Try a spec on its data: values outside the domain, "
                                          "errors to expect, memory and time; spends "
                                          "nothing");
  command->footer(
      "Example: residua check people.toml\n"
      "It prints true counts of the data, which are for the curator only.");
  command->add_option("SPEC", options->spec, "The spec file (TOML)")->required();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
