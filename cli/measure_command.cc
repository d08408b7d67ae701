
#include "cli/commands.h"
#include "cli/guarantee_report.h"
#include "cli/interruption.h"
#include "cli/measuring_report.h"
#include "cli/print_text.h"
#include "residua/base/error.h"
#include "residua/data/database_url.h"
#include "residua/release/measure_to_file.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

namespace fs = std::filesystem;

struct MeasureOptions {
  std::string plan;
  std::string output;
  std::string data;
  std::string ledger;
  bool again = false;
  bool allow_drops = false;
  bool json = false;
  int threads = 0;
};

void Run(const MeasureOptions& options) {
  const PlanFile file = ReadPlan(options.plan);
  const Plan& plan = file.plan;
  const fs::path folder = fs::path(options.plan).parent_path();
  const fs::path output =
      options.output.empty() ? folder / "measurements.parquet" : fs::path(options.output);
  NamedPlaces named;
  named.source = options.data;
  named.ledger = options.ledger;
  MeasureRequest request{
      file, AtPlace(options.plan, [&] { return FindPlaces(file.data, folder, named); }), output,
      options.again};
  request.plan_name = options.plan;
  request.allow_drops = options.allow_drops;
  request.options.counting.num_threads = options.threads;
  const char* interrupted =
      "\nresidua: interrupted; if its spend is in the ledger, residua ledger shows it as reserved, "
      "and the same command says what to do\n";
  if (IsDatabaseUrl(request.places.data.database)) {
    request.options.counting.stop = StopOnInterruption(interrupted);
  } else {
    OnInterruption(interrupted);
  }
  MeasuringReport report(plan.domain, &request);
  const MeasureOutcome outcome = MeasureToFile(request);
  ReportLedgers(outcome.ledger_beside, request.places.ledger);
  const Ledger::Balance& balance = outcome.balance;
  const std::string ledger = request.places.ledger.string();
  const Guarantee guarantee = GuaranteeOf(plan);
  if (options.json) {
    Json json = {{"measurements", output.string()}, {"ledger", ledger}, {"entry", outcome.entry}};
    AddGuarantee(guarantee, &json);
    AddBalance(balance, &json);
    if (!outcome.ledger_beside.empty()) json["ledger_beside"] = outcome.ledger_beside.string();
    fmt::print("{}\n", IndentedJson(json));
    return;
  }
  PrintText("Measured once, with discrete Gaussian noise: {}\n", GuaranteeInWords(guarantee));
  PrintText("Ledger {}{}: entry {}, {}\n", ledger,
            outcome.made_ledger
                ? " (new, with the plan's budget as its grant; keep it with the data)"
                : "",
            outcome.entry, SpentInWords(balance));
  PrintText("Written to {}\n", output.string());
}

}  // namespace

void AddMeasureCommand(CLI::App* app) {
  auto options = std::make_shared<MeasureOptions>();
  CLI::App* command =
      app->add_subcommand("measure", "Count, add noise, record the spend in the ledger");
  command->footer(
      "Example: residua measure plan.json -o measurements.parquet\n"
      "The data is what the plan's spec names, unless --data names another file.\n"
      "The spend is in the ledger before noise is drawn. A plan is measured once, unless you add "
      "--again.");
  command->add_option("PLAN", options->plan, "The plan file")->required();
  command->add_option("-o,--output", options->output,
                      "The measurement file; by default measurements.parquet beside the plan");
  command->add_option("--data", options->data, "Read this file instead: CSV, Parquet or JSON");
  command->add_option("--ledger", options->ledger,
                      "The ledger; by default the data file's name + .ledger, beside the data");
  command->add_option("--threads", options->threads, "Threads; by default one per processor")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--again", options->again,
                    "Measure a plan that was measured before: a new spend");
  command->add_flag("--allow-drops", options->allow_drops,
                    "Measure also where an attribute leaves out more than nine tenths of the rows");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
