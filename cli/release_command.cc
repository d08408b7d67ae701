#include <unistd.h>

#include <iostream>
#include <optional>

#include "cli/combination_report.h"
#include "cli/commands.h"
#include "cli/guarantee_report.h"
#include "cli/interruption.h"
#include "cli/mean_report.h"
#include "cli/measuring_report.h"
#include "cli/page_report.h"
#include "cli/print_text.h"
#include "cli/progress.h"
#include "cli/tables_format.h"
#include "residua/base/counted.h"
#include "residua/base/error.h"
#include "residua/data/database_url.h"
#include "residua/privacy/suspicion.h"
#include "residua/release/release_folder.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

struct ReleaseOptions {
  std::string spec;
  std::string output;
  std::string ledger;
  std::vector<std::string> after;
  bool same_data = false;
  std::string format = "csv";
  std::string digits;
  double confidence = 0.95;
  double page_size = kDefaultPageBytes / 1e6;
  int threads = 0;
  bool yes = false;
  bool allow_drops = false;
  bool json = false;
};

void PrintForecast(const ReleaseForecast& forecast) {
  const std::string before = forecast.balance
                                 ? fmt::format("{} so far", SpentInWords(*forecast.balance))
                                 : "a new ledger, with this release's budget as its grant";
  PrintText(stderr,
            "This release costs {}; {}.\n"
            "Ledger {}: {}.\n"
            "A suspicion of 50 % can grow to at most {}.\n"
            "Standard deviation of the {}.\n",
            GuaranteeInWords(forecast.guarantee), ChangeInWords(forecast.protection),
            forecast.ledger.string(), before,
            PercentAbove(GrownSuspicion(0.5, forecast.guarantee.epsilon)),
            ErrorsInWords(forecast.errors));
  if (const std::string words = SumErrorsInWords(forecast.errors); !words.empty()) {
    PrintText(stderr, "Of the {}.\n", words);
  }
  PrintWarnings(forecast.warnings);
}

// Asks the person at the terminal, or looks for --yes.
bool Confirm(const ReleaseOptions& options, const ReleaseForecast& forecast) {
  PrintForecast(forecast);
  if (options.yes) return true;
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) {
    Fail(ErrorKind::kRefused,
         "nothing was spent; add --yes to spend it, or run this on a terminal to be asked");
  }
  PrintNotes(NotesOf(forecast.query));
  PrintText(stderr, "It cannot be taken back. Type yes to spend it: ");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes";
}

void PrintJson(const ReleaseOutcome& outcome) {
  const Plan& plan = outcome.plan.plan;
  const MeasureOutcome& measured = outcome.measured;
  Json json = {{"release", outcome.folder.path.string()}};
  AddGuarantee(GuaranteeOf(plan), &json);
  json["neighbours"] = NeighboursInWords(plan.protection);
  json["tables"] = outcome.tables.num_tables;
  json["cells"] = outcome.tables.num_answers;
  json["page"] = outcome.folder.page.string();
  json["ledger"] = outcome.places.ledger.string();
  AddBalance(measured.balance, &json);
  json["already_measured"] = measured.was_measured;
  if (!measured.ledger_beside.empty()) json["ledger_beside"] = measured.ledger_beside.string();
  fmt::print("{}\n", IndentedJson(json));
}

void Print(const ReleaseOutcome& outcome) {
  const MeasureOutcome& measured = outcome.measured;
  if (measured.was_measured) {
    PrintText("Measured before: nothing more was spent, and the data was not read again.\n");
  }
  PrintText("{} in {}\n", InWords(outcome.tables), outcome.folder.tables.string());
  if (const size_t earlier = outcome.plan.plan.after.size(); earlier > 0) {
    PrintText("Combined with {} in {}\n", Counted(static_cast<int64_t>(earlier), "earlier release"),
              outcome.folder.combined.string());
  }
  PrintText("Ledger {}: {}\n", outcome.places.ledger.string(), SpentInWords(measured.balance));
  PrintText("Read {} next, and open {} in a browser.\n", outcome.folder.summary.string(),
            outcome.folder.page.string());
}

void Run(const ReleaseOptions& options) {
  ReleaseRequest request = RequestReleaseOf(options.spec, options.output);
  request.ledger = options.ledger;
  request.after.assign(options.after.begin(), options.after.end());
  request.same_data = options.same_data;
  request.format = ParseTableFormat(options.format, /*one_file=*/false);
  request.digits = ParseTableDigits(options.digits, request.format);
  request.confidence = options.confidence;
  request.allow_drops = options.allow_drops;
  request.max_page_bytes = ParsePageSize(options.page_size);
  request.num_threads = options.threads;
  bool asked = false;
  request.confirm = [&](const ReleaseForecast& forecast) {
    asked = true;
    ReportLedgers(forecast.ledger_beside, forecast.ledger);
    return Confirm(options, forecast);
  };
  const char* interrupted =
      "\nresidua: interrupted; run the same command again: it continues, and nothing is spent "
      "twice\n";
  if (IsDatabaseUrl(request.spec.data.database)) {
    request.stop = StopOnInterruption(interrupted);
  } else {
    OnInterruption(interrupted);
  }
  std::optional<ElapsedTime> planning("Planning");
  request.on_planned = [&] { planning.reset(); };
  MeasuringReport report(request.spec.domain, &request);
  std::optional<Progress> writing;
  request.on_table = [&](int64_t done, int64_t total) {
    if (!writing) {
      report.End();
      writing.emplace("Writing tables");
    }
    writing->Show(done, total);
  };
  const ReleaseOutcome outcome = MakeRelease(request);
  writing.reset();
  ReportRenamed(outcome.tables);
  ReportLeftOut(outcome.page);
  if (!options.after.empty()) ReportCombination(outcome.plan.plan, outcome.combination);
  if (outcome.names_data) {
    PrintText(stderr,
              "note: {} and {} were written by an earlier version and say where the data is; "
              "publish them only if readers may know that\n",
              outcome.folder.plan.string(), outcome.folder.measurements.string());
  }
  if (!asked) ReportLedgers(outcome.measured.ledger_beside, outcome.places.ledger);
  if (options.json) {
    PrintJson(outcome);
  } else {
    Print(outcome);
  }
}

}  // namespace

void AddReleaseCommand(CLI::App* app) {
  auto options = std::make_shared<ReleaseOptions>();
  CLI::App* command = app->add_subcommand(
      "release",
      "Plan, measure, write the tables, a summary and a page: a whole release in one folder");
  command->footer(
      "Example: residua release people.toml -o people_release\n"
      "It says what it costs and asks before it spends. After an interruption, run the same "
      "command again: nothing is spent twice.\n"
      "A second release of the same data: residua release more.toml --after people_release -o "
      "more");
  command->add_option("SPEC", options->spec, "The spec file (TOML)")->required();
  command->add_option("-o,--output", options->output, "The folder of the release")->required();
  command->add_option("--ledger", options->ledger,
                      "The ledger; by default the data file's name + .ledger, beside the data");
  command
      ->add_option("--after", options->after,
                   "The folder or measurement file of an earlier release of the same data; may be "
                   "repeated. The noise is chosen given what it knows, and the tables are the best "
                   "estimates from all of them together")
      ->expected(1)
      ->take_all();
  command->add_flag(
      "--same-data", options->same_data,
      "The earlier releases measure the same rows, although they do not say so: those "
      "of versions up to 0.4 do not");
  command->add_option("--format", options->format, "Format of the tables: csv or parquet");
  command->add_option("--digits", options->digits,
                      "Digits in CSV: supported (default), or full for all of them");
  command->add_option("--confidence", options->confidence,
                      "Confidence of the intervals; by default 0.95");
  command->add_option("--page-size", options->page_size,
                      "The largest size of the page, index.html, in MB; by default 20");
  command->add_option("--threads", options->threads, "Threads; by default one per processor")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--yes", options->yes, "Spend without asking");
  command->add_flag("--allow-drops", options->allow_drops,
                    "Release also where an attribute leaves out more than nine tenths of the rows");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
