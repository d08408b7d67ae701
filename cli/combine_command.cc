#include <fmt/format.h>

#include <optional>

#include "cli/combination_report.h"
#include "cli/commands.h"
#include "cli/guarantee_report.h"
#include "cli/measurement_argument.h"
#include "cli/print_text.h"
#include "cli/progress.h"
#include "residua/base/counted.h"
#include "residua/release/combine.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

struct CombineCommandOptions {
  std::vector<std::string> files;
  std::string output = "combined.parquet";
  bool same_data = false;
  bool json = false;
};

void Run(const CombineCommandOptions& options) {
  const std::vector<std::filesystem::path> files(options.files.begin(), options.files.end());
  CombineOptions combine;
  combine.same_data = options.same_data;
  std::optional<ElapsedTime> combining("Combining");
  const CombinedFile combined = CombineFiles(files, options.output, combine);
  combining.reset();
  const Plan& plan = combined.plan.plan;
  const CombinationReport& report = combined.report;
  const Guarantee guarantee = GuaranteeOf(plan);
  if (options.json) {
    Json json = {{"output", options.output},
                 {"releases", plan.parts.size()},
                 {"combined_sets", report.num_combined},
                 {"single_sets", report.num_single + report.num_coarse},
                 {"left_out_sets", report.num_other_bases},
                 {"left_out_tables", report.num_lost_tables},
                 {"pcost", ToString(plan.pcost)},
                 {"mu2", plan.mu2 ? Json(ToString(*plan.mu2)) : Json(nullptr)}};
    AddGuarantee(guarantee, &json);
    fmt::print("{}\n", IndentedJson(json));
  } else {
    PrintText("{} combined into {}\n", Counted(std::ssize(plan.parts), "release"), options.output);
    PrintText("  {} combined, {} of one release alone\n", Counted(report.num_combined, "set"),
              Counted(report.num_single + report.num_coarse, "set"));
    PrintText("  together: {}\n", GuaranteeInWords(guarantee));
  }
  ReportCombination(plan, report);
}

}  // namespace

void AddCombineCommand(CLI::App* app) {
  auto options = std::make_shared<CombineCommandOptions>();
  CLI::App* command = app->add_subcommand(
      "combine", "Combine several releases of the same data into one with smaller errors");
  command->footer(
      "Example: residua combine first/measurements.parquet second/measurements.parquet -o "
      "both.parquet\n"
      "The result is a measurement file for residua tables, query, page and verify, with the best "
      "unbiased estimates that all of them give together. No data is read and nothing is spent; "
      "the privacy cost is the sum. Releases of different data are refused.");
  AcceptReleaseFolder(command->add_option("MEASUREMENTS", options->files,
                                          "Two or more measurement files or release folders"))
      ->required()
      ->expected(2, -1);
  command->add_option("-o,--output", options->output,
                      "The measurement file to write; by default combined.parquet");
  command->add_flag("--same-data", options->same_data,
                    "All of them measure the same rows, although some do not say so: releases of "
                    "versions up to 0.4 do not");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
