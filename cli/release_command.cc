#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.h"
#include "cli/measuring_report.h"
#include "cli/release_summary.h"
#include "cli/tables_command.h"
#include "residua/base/error.h"
#include "residua/io/file.h"
#include "residua/io/measure_to_file.h"
#include "residua/io/measurement_file.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"

namespace residua::cli {
namespace {

namespace fs = std::filesystem;

struct ReleaseOptions {
  std::string spec;
  std::string output;
  std::string ledger;
  std::string format = "csv";
  double confidence = 0.95;
  int threads = 0;
  bool yes = false;
  bool json = false;
};

// The files of a release.
struct ReleaseFolder {
  explicit ReleaseFolder(const fs::path& folder)
      : path(folder),
        plan(folder / "plan.json"),
        measurements(folder / "measurements.parquet"),
        tables(folder / "tables"),
        summary(folder / "summary.md") {}

  fs::path path, plan, measurements, tables, summary;
};

// Nothing but what a first attempt left when it was cut off writing its plan.
bool IsAsGoodAsEmpty(const ReleaseFolder& folder) {
  const auto num_entries = std::distance(fs::directory_iterator(folder.path), {});
  return num_entries == std::ssize(TemporariesOf(folder.plan));
}

// The plan of an earlier attempt in the folder; nothing if the folder is not there or empty. A
// measurement file is complete by itself.
std::optional<Plan> EarlierPlan(const ReleaseFolder& folder) {
  if (!fs::exists(folder.path)) return std::nullopt;
  if (!fs::is_directory(folder.path)) {
    Fail(ErrorKind::kRefused, "{}: exists and is no folder; choose another -o",
         folder.path.string());
  }
  if (fs::exists(folder.plan)) return ReadPlan(folder.plan).plan;
  if (fs::exists(folder.measurements)) return MeasurementFile(folder.measurements).plan();
  if (IsAsGoodAsEmpty(folder)) return std::nullopt;
  Fail(ErrorKind::kRefused,
       "{}: exists and is not a release of residua; choose another -o, or empty it",
       folder.path.string());
}

bool IsPlanFor(const Spec& spec, const Plan& plan) {
  const auto* budget = std::get_if<Budget>(&*spec.target);
  return budget != nullptr && plan.budget == *budget && plan.domain == spec.domain &&
         plan.workload == spec.workload && plan.objective == spec.objective &&
         plan.protection == spec.protection;
}

// What was planned for this spec in the folder stays planned: another version of residua, or
// another processor, may choose other noise.
Plan PlanIn(const ReleaseFolder& folder, const Spec& spec) {
  std::optional<Plan> earlier = EarlierPlan(folder);
  if (earlier && IsPlanFor(spec, *earlier)) return *std::move(earlier);
  Plan plan = Select(RequestOf(spec));
  if (earlier && *earlier != plan) {
    Fail(ErrorKind::kRefused,
         "{}: holds the release of another plan; choose another -o for a new release, or put the "
         "spec back as it was to go on with this one",
         folder.path.string());
  }
  return plan;
}

struct Errors {
  double largest = 0;
  double median = 0;
};

// The largest standard deviation of a cell, and the median over the tables of their mean cell's.
Errors ErrorsOf(const std::vector<TableErrors>& tables) {
  std::vector<std::pair<double, double>> std_devs;  // with the number of tables
  Errors errors;
  double num_tables = 0;
  for (const TableErrors& table : tables) {
    errors.largest = std::max(errors.largest, std::sqrt(table.max_variance));
    std_devs.emplace_back(std::sqrt(table.mean_variance), table.num_tables);
    num_tables += table.num_tables;
  }
  std::sort(std_devs.begin(), std_devs.end());
  double seen = 0;
  for (const auto& [std_dev, count] : std_devs) {
    seen += count;
    errors.median = std_dev;
    if (2 * seen >= num_tables) break;
  }
  return errors;
}

// Asks the person at the terminal, or looks for --yes.
void Confirm(const ReleaseOptions& options, const Plan& plan, const DataPlaces& places) {
  const Guarantee guarantee = GuaranteeOf(plan.pcost, plan.budget.delta);
  const Errors errors = ErrorsOf(PredictErrors(plan));
  std::string before = "a new ledger";
  if (fs::exists(places.ledger)) {
    const Ledger::Balance balance = Ledger::Open(places.ledger).CurrentBalance();
    const SpentText rho = TextOfSpent(balance.spent / 2, balance.granted / 2);
    before = fmt::format("rho {} of {} spent so far", rho.spent, rho.granted);
  }
  fmt::print(stderr,
             "This release costs rho {} (zCDP), epsilon {} at delta {}; {}.\n"
             "Ledger {}: {}.\n"
             "Standard deviation of a cell: median table {:.6g}, largest {:.6g}.\n",
             TextAbove(plan.pcost / 2), TextAbove(guarantee.epsilon), DeltaText(guarantee.delta),
             ChangeInWords(plan.protection), places.ledger.string(), before, errors.median,
             errors.largest);
  if (options.yes) return;
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) {
    Fail(ErrorKind::kRefused,
         "nothing was spent: add --yes to spend it, or run this on a terminal to be asked");
  }
  PrintQueryNote(places.data);
  fmt::print(stderr, "It cannot be taken back. Type yes to spend it: ");
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "yes") {
    Fail(ErrorKind::kRefused, "nothing was spent, nothing was written");
  }
}

// True if it was not there before.
bool MakeFolder(const fs::path& path) {
  std::error_code error;
  const bool is_new = fs::create_directories(path, error);
  if (error) {
    Fail(ErrorKind::kIo, "{}: the folder cannot be made: {}", path.string(), error.message());
  }
  return is_new;
}

// Measures into the folder. What is refused before anything is spent leaves no trace of it, if it
// is new.
MeasureOutcome MeasureInto(const ReleaseFolder& folder, bool is_new, MeasureRequest request) {
  const bool made_plan = !fs::exists(folder.plan);
  bool is_spent = !made_plan;
  for (const fs::path& unfinished : {folder.plan, folder.tables, folder.summary}) {
    RemoveTemporariesOf(unfinished);
  }
  try {
    if (made_plan) WritePlan(folder.plan, request.plan);
    request.resume = true;
    MeasuringReport report(&request);
    request.on_reserved = [&] { is_spent = true; };
    return MeasureToFile(request);
  } catch (...) {
    std::error_code ignored;
    if (!is_spent) fs::remove(folder.plan, ignored);
    if (!is_spent && is_new) fs::remove(folder.path, ignored);
    throw;
  }
}

void Run(const ReleaseOptions& options) {
  const Spec spec = ReadReleasableSpec(options.spec);
  const ReleaseFolder folder(options.output);
  TablesOptions tables;
  tables.measurements = folder.measurements.string();
  tables.output = folder.tables.string();
  tables.format = options.format;
  tables.confidence = options.confidence;
  tables.threads = options.threads;
  CheckTablesOptions(tables);
  PlanFile file{PlanIn(folder, spec), Rebase(spec.data, FolderOf(options.spec), folder.path)};
  DataPlaces places = PlacesOf(spec.data, FolderOf(options.spec));
  if (!options.ledger.empty()) {
    places.ledger = options.ledger;
    places.names_ledger = true;
  }
  MeasureRequest request{file, places, folder.measurements};
  request.plan_name = options.spec;
  request.options.counting.num_threads = options.threads;
  // A spend that was cut off is gone on with only where it was made, and refused otherwise: what it
  // paid for may lie in a folder that was moved away.
  request.resume = fs::exists(folder.plan) || fs::exists(folder.measurements);
  const MeasureForecast forecast = CheckMeasuring(request);
  ReportLedgers(forecast.ledger_beside, places);
  if (forecast.spends) Confirm(options, file.plan, places);
  const bool is_new = MakeFolder(folder.path);
  const FolderLock lock(folder.path);
  const MeasureOutcome outcome = MeasureInto(folder, is_new, request);
  const TablesWritten written = WriteTables(tables);
  const ReleaseFacts facts{outcome.balance.granted, outcome.spent_before, options.confidence,
                           written.num_tables,      written.num_answers,  !spec.data.query.empty()};
  WriteFileAtomically(folder.summary, SummaryText(file, facts));
  if (options.json) {
    const Guarantee guarantee = GuaranteeOf(file.plan.pcost, file.plan.budget.delta);
    nlohmann::ordered_json json = {{"release", folder.path.string()},
                                   {"rho", guarantee.rho},
                                   {"epsilon", guarantee.epsilon},
                                   {"delta", guarantee.delta},
                                   {"neighbours", NeighboursInWords(file.plan.protection)},
                                   {"tables", written.num_tables},
                                   {"cells", written.num_answers},
                                   {"ledger", places.ledger.string()},
                                   {"spent_rho", ToDoubleUp(outcome.balance.spent / 2)},
                                   {"granted_rho", ToDoubleDown(outcome.balance.granted / 2)},
                                   {"already_measured", outcome.was_measured}};
    if (!outcome.ledger_beside.empty()) json["ledger_beside"] = outcome.ledger_beside.string();
    fmt::print("{}\n", json.dump(2));
    return;
  }
  if (outcome.was_measured) {
    fmt::print("Measured before: nothing more was spent, and the data was not read again.\n");
  }
  fmt::print("{} {} of {} cells in all in {}\n", written.num_tables,
             written.num_tables == 1 ? "table" : "tables", written.num_answers,
             folder.tables.string());
  const SpentText rho = TextOfSpent(outcome.balance.spent / 2, outcome.balance.granted / 2);
  fmt::print("Ledger {}: rho {} of {} spent\n", places.ledger.string(), rho.spent, rho.granted);
  fmt::print("Read {} next.\n", folder.summary.string());
}

}  // namespace

void AddReleaseCommand(CLI::App* app) {
  auto options = std::make_shared<ReleaseOptions>();
  CLI::App* command = app->add_subcommand(
      "release", "Plan, measure, make the tables and a summary: all of a release in one folder");
  command->footer(
      "Example: residua release people.toml -o people_release\n"
      "It says what it costs and asks before it spends. After an interruption, run the same "
      "command again: nothing is spent twice.");
  command->add_option("SPEC", options->spec, "The spec file (TOML)")->required();
  command->add_option("-o,--output", options->output, "The folder of the release")->required();
  command->add_option("--ledger", options->ledger,
                      "The ledger; by default the data file's name + .ledger, beside the data");
  command->add_option("--format", options->format, "Of the tables: csv or parquet");
  command->add_option("--confidence", options->confidence, "Of the intervals; by default 0.95");
  command->add_option("--threads", options->threads, "Threads; by default one a processor")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--yes", options->yes, "Spend without asking");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
