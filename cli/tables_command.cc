
#include "cli/commands.h"
#include "cli/measurement_argument.h"
#include "cli/print_text.h"
#include "cli/progress.h"
#include "cli/tables_format.h"
#include "residua/base/counted.h"
#include "residua/base/error.h"
#include "residua/release/publish_tables.h"
#include "residua/text/choice_text.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

struct TablesOptions {
  TablesRequest request;
  std::string format;
  std::string digits;
  std::string answers = "planned";
  std::string simultaneous;
  bool one_file = false;
  bool json = false;
};

Json TablesJson(const TablesRequest& request, const TablesWritten& written) {
  Json json = {{"tables", written.num_tables}, {"cells", written.num_answers}};
  if (!request.is_adjusted()) json["confidence"] = request.confidence;
  json["output"] = written.output.string();
  if (written.fit) {
    json["nonnegative"] = {{"iterations", written.fit->iterations},
                           {"objective", written.fit->objective},
                           {"max_deviation", written.fit->max_deviation},
                           {"mixed_in", written.fit->mixed_in}};
  }
  return json;
}

void WarnOfAdjusted(const TablesRequest& request, const TablesWritten& written) {
  if (written.fit && !written.fit->is_within_tolerance) {
    PrintText(stderr,
              "residua: stopped after {} iterations, with answers up to {:.2g} standard deviations "
              "from the most likely ones; the tables are still non-negative and consistent\n",
              written.fit->iterations, written.fit->max_deviation);
  }
  if (written.num_means_left_out > 0) {
    PrintText(stderr, "residua: {} with sums and means left out: they cannot be adjusted\n",
              Counted(written.num_means_left_out, "table"));
  }
  const char* flags = request.nonnegative && request.integers ? "--nonnegative and --integers"
                      : request.nonnegative                   ? "--nonnegative"
                                                              : "--integers";
  PrintText(stderr,
            "residua: adjusted numbers are biased and have no exact error bars; run the same "
            "command without {} for the unbiased tables with error bars\n",
            flags);
}

void Run(TablesOptions& options) {
  TablesRequest& request = options.request;
  request.format = ParseTableFormat(options.format, options.one_file);
  request.digits = ParseTableDigits(options.digits, request.format);
  request.answers = ParseAnswerKind(options.answers);
  if (!options.simultaneous.empty()) request.coverage = ParseCoverage(options.simultaneous);
  Progress progress("Writing tables");
  request.on_table = [&](int64_t done, int64_t total) { progress.Show(done, total); };
  const TablesWritten written = PublishTables(request);
  if (options.json) {
    fmt::print("{}\n", IndentedJson(TablesJson(request, written)));
  } else {
    PrintText("{} written to {}\n", InWords(written), written.output.string());
  }
  ReportRenamed(written);
  if (request.is_adjusted()) WarnOfAdjusted(request, written);
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
      "  residua tables measurements.parquet --simultaneous -o tables\n"
      "  residua tables measurements.parquet --nonnegative --integers -o for_the_press\n"
      "One file per table, one row per answer: the attributes, estimate, std_dev, ci_lower, "
      "ci_upper. Estimates are "
      "unbiased, so some are negative.\n"
      "--nonnegative and --integers make adjusted tables instead, in files that end in "
      ".adjusted.csv or .adjusted.parquet: the attributes and adjusted. These numbers are biased "
      "and have no exact error bars. Only tables of one run agree with one another.");
  AcceptReleaseFolder(command->add_option("MEASUREMENTS", options->request.measurements,
                                          "The measurement file, or the folder of a release"))
      ->required();
  command->add_option(
      "-o,--output", options->request.output,
      "The folder (by default tables, or tables.adjusted), or with --one-file the file");
  command
      ->add_option("--table", options->request.tables,
                   "Only this table: attribute names a,b, or total; may be repeated")
      ->expected(1)
      ->take_all();
  command->add_option("--format", options->format,
                      "Format of the tables: csv (the default) or parquet");
  command->add_flag("--one-file", options->one_file,
                    "All tables in one Parquet file: the columns are table, one for each attribute "
                    "(empty where the table does not have it), and the numbers");
  command->add_option("--digits", options->digits,
                      "Digits in CSV. supported: three below the first digit of the table's "
                      "smallest std_dev, intervals rounded outwards (default); full: all");
  command->add_option(
      "--answers", options->answers,
      "planned: each attribute's own queries (default); prefixes: prefix sums in place of all "
      "ranges; cells: the counts themselves");
  CLI::Option* confidence = command->add_option("--confidence", options->request.confidence,
                                                "Confidence of the intervals; by default 0.95");
  CLI::Option* simultaneous =
      command
          ->add_option("--simultaneous", options->simultaneous,
                       "Wider intervals, which hold all at once with that confidence: those of "
                       "each table (table, the default), or of all tables together (release)")
          ->expected(0, 1)
          ->default_str("table");
  command
      ->add_flag("--nonnegative", options->request.nonnegative,
                 "Adjusted tables: the most likely counts that are not negative; tables agree on "
                 "their common margins and sum to the noisy total")
      ->excludes(confidence)
      ->excludes(simultaneous);
  command
      ->add_flag("--integers", options->request.integers,
                 "Adjusted tables: whole numbers; with --nonnegative every table of counts sums to "
                 "the rounded total. Rounded tables agree on common margins only up to rounding")
      ->excludes(confidence)
      ->excludes(simultaneous);
  command
      ->add_option("--threads", options->request.num_threads,
                   "Threads; by default one per processor")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
