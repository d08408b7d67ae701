#include "cli/tables_command.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "residua/base/error.h"
#include "residua/base/version.h"
#include "residua/io/exploring_text.h"
#include "residua/io/stream_tables.h"
#include "residua/io/table_files.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/table_answers.h"

namespace residua::cli {
namespace {

TableFormat FormatOf(const TablesOptions& options) {
  if (options.format != "csv" && options.format != "parquet") {
    Fail(ErrorKind::kBadInput, "--format '{}' is not known; choose csv or parquet", options.format);
  }
  if (options.one_file) return TableFormat::kOneParquet;
  return options.format == "csv" ? TableFormat::kCsv : TableFormat::kParquet;
}

// Where the tables come from and what is promised; kept beside them.
std::string About(const TablesOptions& options, const Plan& plan) {
  const Guarantee guarantee = GuaranteeOf(plan.pcost, plan.budget.delta);
  const nlohmann::ordered_json json = {
      {"format", "residua-tables"},
      {"version", 1},
      {"tool", fmt::format("residua {}", Version())},
      {"neighbours", NeighboursInWords(plan.protection)},
      {"guarantee",
       {{"rho", guarantee.rho}, {"epsilon", guarantee.epsilon}, {"delta", guarantee.delta}}},
      {"confidence", options.confidence},
      {"estimates", "unbiased; signed; std_dev and intervals are exact for the noise added"}};
  return json.dump(2) + "\n";
}

std::vector<AttributeSet> ChosenTables(const TablesOptions& options, const Plan& plan) {
  std::vector<AttributeSet> tables;
  for (const std::string& text : options.tables) {
    tables.push_back(ParseAttributeSet(text, plan.domain));
  }
  if (!tables.empty()) {
    std::sort(tables.begin(), tables.end());
    tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
    return tables;
  }
  const WorkloadOrbits workload = OrbitsUnder(plan.domain, plan.workload, plan.classes);
  for (int64_t j = 0; j < workload.orbits.size(); ++j) {
    ForEachMember(plan.classes, workload.orbits[j],
                  [&](const AttributeSet& set) { tables.push_back(set); });
  }
  return tables;
}

// The axes as they are published: the planned queries, prefixes in place of all ranges, or cells.
std::vector<AxisAnswers> MakeAxes(const TablesOptions& options, const Plan& plan) {
  std::vector<AxisAnswers> axes;
  const std::vector<ResidualBasis> bases = BasisOfAttributes(plan);
  for (int i = 0; i < plan.domain.size(); ++i) {
    Attribute attribute = plan.domain[i];
    if (options.answers == "prefixes" && attribute.queries == QueryKind::kRange) {
      attribute.queries = QueryKind::kPrefix;
    } else if (options.answers == "cells") {
      attribute.queries = QueryKind::kIdentity;
    } else if (options.answers != "planned" && options.answers != "prefixes") {
      Fail(ErrorKind::kBadInput, "--answers '{}' is not known; choose planned, prefixes or cells",
           options.answers);
    }
    axes.push_back(MakeAxisAnswers(attribute, bases[static_cast<size_t>(i)]));
  }
  return axes;
}

}  // namespace

void CheckTablesOptions(const TablesOptions& options) {
  TwoSidedQuantile(options.confidence);
  FormatOf(options);
}

TablesWritten WriteTables(const TablesOptions& options) {
  const double factor = TwoSidedQuantile(options.confidence);
  const TableFormat format = FormatOf(options);
  const MeasurementFile file(options.measurements);
  const Plan& plan = file.plan();
  const std::vector<AttributeSet> tables = ChosenTables(options, plan);
  std::string output = options.output;
  if (output.empty()) output = options.one_file ? "tables.parquet" : "tables";
  const auto writer = MakeTableWriter(output, format, About(options, plan));
  StreamOptions stream;
  stream.reconstruct.num_threads = options.threads;
  const std::vector<AxisAnswers> axis_of_attribute = MakeAxes(options, plan);
  int64_t num_answers = 0;
  const auto write = [&](const ResidualIndex& index, const AttributeSet& table,
                         std::span<const double> counts) {
    PublishedTable published;
    std::vector<const AxisAnswers*> axes;
    for (const int i : table) {
      axes.push_back(&axis_of_attribute[static_cast<size_t>(i)]);
      published.attributes.push_back(plan.domain[i].name);
      published.labels.push_back(axes.back()->labels);
    }
    const bool ordinary = std::all_of(axes.begin(), axes.end(), [](const AxisAnswers* axis) {
      return axis->variances.size() == 1;
    });
    const std::vector<double> answers =
        ordinary ? std::vector<double>() : AnswerTable(counts, axes);
    std::vector<double> std_devs = AnswerVariances(index, table, axes);
    for (double& value : std_devs) value = std::sqrt(value);
    published.estimates = ordinary ? counts : std::span<const double>(answers);
    published.std_devs = std_devs;
    published.interval_factor = factor;
    writer->Write(published);
    num_answers += static_cast<int64_t>(published.estimates.size());
  };
  StreamTables(file, tables, stream, write);
  writer->Finish();
  return {static_cast<int64_t>(tables.size()), num_answers, output};
}

namespace {

void Run(const TablesOptions& options) {
  const TablesWritten written = WriteTables(options);
  if (options.json) {
    const nlohmann::ordered_json json = {{"tables", written.num_tables},
                                         {"cells", written.num_answers},
                                         {"confidence", options.confidence},
                                         {"output", written.output}};
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{} {} of {} cells in all written to {}\n", written.num_tables,
               written.num_tables == 1 ? "table" : "tables", written.num_answers, written.output);
  }
}

}  // namespace

void AddTablesCommand(CLI::App* app) {
  auto options = std::make_shared<TablesOptions>();
  CLI::App* command = app->add_subcommand(
      "tables", "Reconstruct tables with their error bars from a measurement file");
  command->footer(
      "Examples:\n"
      "  residua tables measurements.parquet -o tables\n"
      "  residua tables measurements.parquet --table age,sex --confidence 0.99 -o age_and_sex\n"
      "One row a cell: the attributes, estimate, std_dev, ci_lower, ci_upper. Estimates are "
      "unbiased, so some are negative.");
  command->add_option("MEASUREMENTS", options->measurements, "The measurement file")->required();
  command->add_option("-o,--output", options->output,
                      "The folder (by default tables), or with --one-file the file");
  command
      ->add_option("--table", options->tables,
                   "Only this table: attribute names a,b, or total; may be repeated")
      ->expected(1)
      ->take_all();
  command->add_option("--format", options->format, "csv or parquet");
  command->add_flag("--one-file", options->one_file, "All tables in one Parquet file");
  command->add_option(
      "--answers", options->answers,
      "planned: each attribute's own queries (default); prefixes: prefix sums in place of all "
      "ranges; cells: the counts themselves");
  command->add_option("--confidence", options->confidence, "Of the intervals; by default 0.95");
  command->add_option("--threads", options->threads, "Threads; by default one a processor")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
