// residua-paper: the tables and figures of the paper's experiments, computed again, beside what it
// prints.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <set>

#include "bench/paper/fairness.h"
#include "bench/paper/report.h"
#include "bench/paper/row_runner.h"
#include "residua/base/error.h"
#include "residua/files/file.h"

namespace residua::bench {
namespace {

struct Options {
  std::vector<std::string> tables;
  bool json = false;
  bool list = false;
  bool all = false;
  bool accuracy = false;
  std::string csv;
};

void PrintList() {
  for (const PaperTable& table : PaperTables()) {
    fmt::print("{:<18} {} ({})\n", table.name, table.title, table.labels);
  }
  fmt::print("{:<18} Variance of every table of the Adult sizes, by weighting (three figures)\n",
             kFairness);
}

// The names asked for, or all of them.
std::set<std::string> Wanted(const Options& options) {
  std::set<std::string> known = {kFairness};
  for (const PaperTable& table : PaperTables()) known.insert(table.name);
  std::set<std::string> wanted(options.tables.begin(), options.tables.end());
  for (const std::string& name : wanted) {
    if (!known.contains(name)) {
      Fail(ErrorKind::kBadInput, "there is no table '{}'; --list names them", name);
    }
  }
  if (wanted.empty() && !options.csv.empty()) return {kFairness};
  return wanted.empty() ? known : wanted;
}

void Run(const Options& options) {
  if (options.list) {
    PrintList();
    return;
  }
  const std::set<std::string> wanted = Wanted(options);
  const std::vector<Figure> figures = PaperFigures();
  RowRunner runner;
  nlohmann::ordered_json json = {{"rows", nlohmann::ordered_json::array()}};
  for (const PaperTable& table : PaperTables()) {
    if (!wanted.contains(table.name)) continue;
    std::vector<ReportRow> rows;
    int num_left_out = 0;
    for (const Figure& figure : figures) {
      if (figure.table != table.name) continue;
      if (options.accuracy && IsTime(figure.quantity)) continue;
      if (IsLong(figure) && !options.all) {
        ++num_left_out;
        continue;
      }
      rows.push_back({figure, runner.Run(figure)});
      if (options.json) json["rows"].push_back(JsonOf(table, rows.back()));
    }
    if (options.json || rows.empty()) continue;
    fmt::print("{}", TextOf(table, rows));
    if (num_left_out > 0) {
      fmt::print("{} longer {} with --all.\n", num_left_out, num_left_out == 1 ? "row" : "rows");
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
  if (wanted.contains(kFairness) || !options.csv.empty()) {
    const std::vector<FairnessPoint> points = StudyFairness();
    if (!options.csv.empty())
      WriteFileAtomically(options.csv, FairnessCsv(points), FileKind::kAnything);
    if (options.json) {
      json["fairness"] = FairnessJson(points);
    } else {
      fmt::print("{}", FairnessText(points));
    }
  }
  if (options.json) fmt::print("{}\n", json.dump(1));
}

}  // namespace
}  // namespace residua::bench

int main(int argc, char** argv) {
  residua::bench::Options options;
  CLI::App app("The paper's tables and figures, computed again and shown beside its own");
  app.footer("Example: residua-paper prefix-rmse crossover-20");
  app.add_option("TABLE", options.tables, "Names of tables; all by default");
  app.add_flag("--list", options.list, "List the names of the tables");
  app.add_flag("--json", options.json, "Print every row as JSON");
  app.add_flag("--all", options.all, "Include rows that take more than half a minute");
  app.add_flag("--accuracy", options.accuracy, "Leave out times");
  app.add_option("--csv", options.csv,
                 "Write every table's variance of the fairness study to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    residua::bench::Run(options);
  } catch (const residua::Error& error) {
    fmt::print(stderr, "residua-paper: {}\n", error.what());
    return 1;
  }
  return 0;
}
