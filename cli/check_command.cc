#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/progress.h"
#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/release/measure_to_file.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/encoded_table.h"
#include "residua/select/select.h"

namespace residua::cli {
namespace {

struct CheckOptions {
  std::string spec;
  bool json = false;
};

// Roughly, for a person deciding whether to wait; measured on two cores of 2020.
constexpr double kSecondsPerCountedRow = 1.2e-9;
constexpr double kSecondsPerCell = 2e-7;  // noise, files and tables, a cell of each table
constexpr double kBytesPerCell = 24;      // counts, noisy values and estimates of the largest table

struct Prediction {
  double memory_bytes = 0;
  double seconds = 0;
};

Prediction Predict(const Plan& plan, int64_t num_rows, double reading_seconds) {
  Prediction prediction;
  const std::vector<AttributeSet> sets = MeasuredSets(plan);
  double row_bytes = 0;
  for (const Attribute& attribute : plan.domain.attributes()) {
    row_bytes +=
        std::visit([](const auto& column) { return static_cast<double>(sizeof(column.front())); },
                   CodeColumn(EmptyCodeColumn(attribute)));
  }
  double largest = 0;
  double num_cells = 0;
  for (const AttributeSet& set : sets) {
    const auto cells = static_cast<double>(NumCellsInMemory(plan.domain, set));
    largest = std::max(largest, cells);
    num_cells += cells;
  }
  constexpr double kAtStart = 1e8;  // the program, DuckDB and its buffers
  prediction.memory_bytes =
      kAtStart + row_bytes * static_cast<double>(num_rows) +
      std::max(kBytesPerCell * largest, std::min(1e9, kBytesPerCell * num_cells));
  const auto num_counted =
      static_cast<double>(PlanCounting(plan.domain, sets, num_rows, 1000000).size());
  prediction.seconds = reading_seconds +
                       num_counted * static_cast<double>(num_rows) * kSecondsPerCountedRow +
                       num_cells * kSecondsPerCell;
  return prediction;
}

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
  }
  RESIDUA_CHECK(false);
}

void PrintAttributes(const Domain& domain, const ReadReport& report) {
  size_t width = 9;
  for (const Attribute& attribute : domain.attributes()) {
    width = std::max(width, attribute.name.size());
  }
  fmt::print("{:<{}}  {:>7}  {:>8}  {:>8}  values outside: what happens\n", "attribute", width,
             "cells", "outside", "missing");
  for (int i = 0; i < domain.size(); ++i) {
    const AttributeReport& found = report.attributes[static_cast<size_t>(i)];
    fmt::print("{:<{}}  {:>7}  {:>8}  {:>8}  {}{}\n", domain[i].name, width, domain[i].size,
               found.num_outside, found.num_missing, WhatHappens(domain[i]),
               domain[i].encoding.null_cell ? "; missing ones have a cell" : "");
  }
  constexpr size_t kMaxShown = 8;
  for (int i = 0; i < domain.size(); ++i) {
    const AttributeReport& found = report.attributes[static_cast<size_t>(i)];
    if (found.outside.empty()) continue;
    std::vector<std::pair<std::string, int64_t>> values(found.outside.begin(), found.outside.end());
    std::stable_sort(values.begin(), values.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    fmt::print("\n{}: outside its domain are", domain[i].name);
    for (size_t k = 0; k < std::min(values.size(), kMaxShown); ++k) {
      fmt::print("{} {} ({}x)", k > 0 ? "," : "", values[k].first, values[k].second);
    }
    fmt::print("{}\n", values.size() > kMaxShown ? " and others" : "");
  }
}

// The values of an attribute that stop a release, in words.
std::vector<std::string> StoppingWords(const Attribute& attribute) {
  const StoppingValues stopping = StoppingValuesOf(attribute.encoding);
  std::vector<std::string> words;
  if (stopping.outside) words.emplace_back("values outside");
  if (stopping.not_numbers) words.emplace_back("values that are not numbers");
  if (stopping.missing) words.emplace_back("missing values");
  return words;
}

// What may tell of a single row: a release that stops, whether or not this data stops it.
void PrintStoppingValues(const Domain& domain) {
  bool is_first = true;
  for (const Attribute& attribute : domain.attributes()) {
    const std::vector<std::string> words = StoppingWords(attribute);
    if (words.empty()) continue;
    if (is_first)
      fmt::print(
          "\nA single row can stop a release, which tells whoever sees it that there is one:\n");
    is_first = false;
    fmt::print("  {}: {}\n", attribute.name, fmt::join(words, ", "));
  }
  if (is_first) return;
  fmt::print(
      "Never stopping: outside = \"drop\"; or null = true with outside = \"null\" or \"clamp\".\n");
}

// Of what a row is, where it is not one of a file.
void PrintQuery(const QueryShape& query) {
  fmt::print("\nWhat is counted and protected is one row of the query's result.\n");
  if (query.operations.empty()) return;
  fmt::print(
      "warning: the query {}. One row of a table may be in several rows of its result, or change "
      "others, and is protected less than one row of the result.\n",
      InWords(query));
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

// All that stands in the way of a release, the spec's name in front.
std::vector<std::string> Obstacles(const CheckOptions& options, const Plan& plan,
                                   const ReadReport& report, int64_t num_rows) {
  std::vector<std::string> obstacles;
  const auto try_to = [&](const auto& check) {
    try {
      check();
    } catch (const Error& error) {
      obstacles.push_back(fmt::format("{}: {}", options.spec, error.what()));
    }
  };
  for (const AttributeReport& attribute : report.attributes) {
    if (!attribute.first_error.empty()) obstacles.push_back(attribute.first_error);
  }
  try_to([&] { CheckDomainIsPublic(plan.domain); });
  if (obstacles.empty()) try_to([&] { CheckMeasurable(plan, num_rows, {}); });
  return obstacles;
}

void Run(const CheckOptions& options) {
  const Spec spec = ReadReleasableSpec(options.spec);
  const Plan plan = Select(RequestOf(spec));
  const DataPlaces places = PlacesOf(spec.data, FolderOf(options.spec));
  const auto start = std::chrono::steady_clock::now();
  ReadReport report;
  {
    Progress progress("Reading");
    report = SurveyTable(places.data, spec.domain, spec.protection,
                         [&](int64_t num_rows) { progress.ShowRows(num_rows); });
  }
  const std::chrono::duration<double> reading = std::chrono::steady_clock::now() - start;
  const Prediction prediction = Predict(plan, report.num_rows_read, reading.count());
  const std::vector<std::string> obstacles = Obstacles(options, plan, report, report.num_rows_read);
  if (options.json) {
    nlohmann::ordered_json json = {{"spec", options.spec},
                                   {"rows", report.num_rows_read},
                                   {"rows_without_identifier", report.num_rows_unowned},
                                   {"rows_beyond_max_rows", report.num_rows_over},
                                   {"query_operations", nlohmann::ordered_json::array()},
                                   {"memory_bytes", std::round(prediction.memory_bytes)},
                                   {"seconds", prediction.seconds},
                                   {"obstacles", obstacles},
                                   {"attributes", nlohmann::ordered_json::array()}};
    for (const RowOperation operation : report.query.operations) {
      json["query_operations"].push_back(InWords(operation));
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
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{} rows read; these are true counts of the data, not for publication\n\n",
               report.num_rows_read);
    PrintAttributes(spec.domain, report);
    if (report.num_rows_unowned > 0) {
      fmt::print("\nRows without '{}', to be left out: {}\n", spec.protection.identifier,
                 report.num_rows_unowned);
    }
    if (report.num_rows_over > 0) {
      fmt::print("\nRows beyond the max_rows of their '{}', to be left out at random: {}\n",
                 spec.protection.identifier, report.num_rows_over);
    }
    PrintStoppingValues(spec.domain);
    if (!spec.data.query.empty()) PrintQuery(report.query);
    fmt::print("\nA release will take {} of memory and {}.\n", Memory(prediction.memory_bytes),
               Seconds(prediction.seconds));
    for (const std::string& obstacle : obstacles) fmt::print("In its way: {}\n", obstacle);
    if (obstacles.empty())
      fmt::print("Nothing is in its way: residua release {} -o DIR\n", options.spec);
  }
  std::fflush(stdout);
  if (!obstacles.empty()) {
    Fail(ErrorKind::kBadInput, "{}: {} to mend before a release", options.spec,
         obstacles.size() == 1 ? "one thing" : fmt::format("{} things", obstacles.size()));
  }
}

}  // namespace

void AddCheckCommand(CLI::App* app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app->add_subcommand(
      "check",
      "Try a spec on its data: values outside the domain, memory and time; spends nothing");
  command->footer(
      "Example: residua check people.toml\n"
      "What it prints are true counts of the data, for the curator's eyes only.");
  command->add_option("SPEC", options->spec, "The spec file (TOML)")->required();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
