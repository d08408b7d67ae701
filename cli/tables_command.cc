#include "cli/tables_command.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.h"
#include "cli/progress.h"
#include "residua/base/error.h"
#include "residua/base/memory.h"
#include "residua/base/version.h"
#include "residua/files/table_files.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/nonnegative_tables.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/whole_counts.h"
#include "residua/release/stream_tables.h"
#include "residua/text/choice_text.h"
#include "residua/text/domain_text.h"

namespace residua::cli {
namespace {

TableColumns ColumnsOf(const TablesOptions& options) {
  if (options.integers) return TableColumns::kAdjustedWhole;
  return options.nonnegative ? TableColumns::kAdjusted : TableColumns::kEstimates;
}

// Adjusted tables say so in the name of their file or, in a folder, of each file.
std::string OutputOf(const TablesOptions& options) {
  if (!options.is_adjusted()) {
    if (!options.output.empty()) return options.output;
    return options.one_file ? "tables.parquet" : "tables";
  }
  if (!options.one_file) return options.output.empty() ? "tables.adjusted" : options.output;
  const std::string ending = ".adjusted.parquet";
  std::string output = options.output.empty() ? "tables" : options.output;
  if (output.ends_with(ending)) return output;
  if (output.ends_with(".parquet")) output.resize(output.size() - std::strlen(".parquet"));
  return output + ending;
}

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
  nlohmann::ordered_json json = {
      {"format", "residua-tables"},
      {"version", 1},
      {"tool", fmt::format("residua {}", Version())},
      {"neighbours", NeighboursInWords(plan.protection)},
      {"guarantee",
       {{"rho", guarantee.rho}, {"epsilon", guarantee.epsilon}, {"delta", guarantee.delta}}}};
  if (options.is_adjusted()) {
    json["adjusted"] =
        fmt::format("{}{}{}; biased; no error bars", options.nonnegative ? "non-negative" : "",
                    options.nonnegative && options.integers ? ", " : "",
                    options.integers ? "rounded to whole numbers" : "");
  } else {
    json["confidence"] = options.confidence;
    json["estimates"] = "unbiased; signed; std_dev and intervals are exact for the noise added";
  }
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

// Sums of whole cells are whole; other combinations, which custom queries may ask for, need not be.
void CheckWholeAnswers(const Attribute& attribute, const QueryMatrix& queries) {
  if (attribute.queries != QueryKind::kCustom) return;
  for (int64_t k = 0; k < queries.num_answers(); ++k) {
    for (const double weight : queries.Row(k)) {
      if (weight == std::floor(weight)) continue;
      Fail(ErrorKind::kBadInput,
           "the queries of '{}' weight cells by {}, so that whole cells do not give whole answers; "
           "leave out --integers, or ask for --answers cells",
           attribute.name, weight);
    }
  }
}

// Publishes tables one after the other, from their counts.
class TablePublisher {
 public:
  TablePublisher(const TablesOptions& options, const Plan& plan, TableWriter* writer)
      : options_(options),
        plan_(plan),
        writer_(writer),
        interval_factor_(TwoSidedQuantile(options.confidence)),
        axis_of_attribute_(AxesOf(plan, ParseAnswerKind(options.answers))) {}

  // Before any table is made.
  void CheckWhole(const std::vector<AttributeSet>& tables) const {
    std::set<int> attributes;
    for (const AttributeSet& table : tables) attributes.insert(table.begin(), table.end());
    for (const int i : attributes) {
      CheckWholeAnswers(plan_.domain[i], axis_of_attribute_[static_cast<size_t>(i)].queries);
    }
  }

  int64_t num_answers() const { return num_answers_; }

  // With the error bars that `index` gives, unless the tables are adjusted.
  void Publish(const ResidualIndex& index, const AttributeSet& table,
               std::span<const double> counts) {
    PublishedTable published;
    std::vector<const AxisAnswers*> axes;
    for (const int i : table) {
      axes.push_back(&axis_of_attribute_[static_cast<size_t>(i)]);
      published.attributes.push_back(plan_.domain[i].name);
      published.labels.push_back(axes.back()->labels);
    }
    const bool ordinary = std::all_of(axes.begin(), axes.end(), [](const AxisAnswers* axis) {
      return axis->variances.size() == 1;
    });
    const bool is_rounded_here = options_.integers && !options_.nonnegative;
    std::vector<double> answers;
    if (!ordinary || is_rounded_here) answers = AnswerTable(counts, axes);
    if (is_rounded_here) RoundEach(answers);
    published.estimates = answers.empty() ? counts : std::span<const double>(answers);
    std::vector<double> std_devs;
    if (!options_.is_adjusted()) {
      std_devs = AnswerVariances(index, table, axes);
      for (double& value : std_devs) value = std::sqrt(value);
      published.std_devs = std_devs;
      published.interval_factor = interval_factor_;
    }
    writer_->Write(published);
    num_answers_ += static_cast<int64_t>(published.estimates.size());
  }

 private:
  const TablesOptions& options_;
  const Plan& plan_;
  TableWriter* writer_;
  double interval_factor_;
  std::vector<AxisAnswers> axis_of_attribute_;
  int64_t num_answers_ = 0;
};

// All tables at once, as they must agree. Gives what it took.
nlohmann::ordered_json PublishNonnegative(const TablesOptions& options, const MeasurementFile& file,
                                          const std::vector<AttributeSet>& tables,
                                          TablePublisher* publisher) {
  const Plan& plan = file.plan();
  if (options.integers) publisher->CheckWhole(tables);
  const std::vector<NoisyResidual> residuals = ReadSubsets(file, tables);
  std::vector<ResidualView> views;
  for (const NoisyResidual& residual : residuals) views.push_back(ViewOf(residual));
  const ResidualIndex index(plan.domain, BasisOfAttributes(plan), views);
  NonnegativeOptions nonnegative;
  nonnegative.num_threads = options.threads;
  nonnegative.memory_budget_bytes = MemoryOfMachine() / 2;
  const NonnegativeTables result = ReconstructNonnegative(index, tables, nonnegative);
  for (const AttributeSet& table : tables) {
    std::vector<double> counts = CountsOf(result, plan.domain, table);
    if (options.integers) RoundToTotal(result.total, counts);
    publisher->Publish(index, table, counts);
  }
  if (result.max_deviation > nonnegative.max_deviation) {
    fmt::print(
        stderr,
        "residua: stopped after {} iterations, with answers up to {:.2g} standard deviations "
        "from the most likely; the tables are non-negative and agree all the same\n",
        result.iterations, result.max_deviation);
  }
  return {{"iterations", result.iterations},
          {"objective", result.objective},
          {"max_deviation", result.max_deviation},
          {"mixed_in", result.mixed_in}};
}

struct Written {
  TablesWritten tables;
  nlohmann::ordered_json solution;  // what non-negative tables took
};

Written Write(const TablesOptions& options) {
  const TableFormat format = FormatOf(options);
  const MeasurementFile file(options.measurements);
  const Plan& plan = file.plan();
  const std::vector<AttributeSet> tables = ChosenTables(options, plan);
  const std::string output = OutputOf(options);
  const auto writer = MakeTableWriter(output, format, ColumnsOf(options), About(options, plan));
  TablePublisher publisher(options, plan, writer.get());
  nlohmann::ordered_json solution;
  if (options.nonnegative) {
    solution = PublishNonnegative(options, file, tables, &publisher);
  } else {
    StreamOptions stream;
    stream.reconstruct.num_threads = options.threads;
    Progress progress("Writing tables");
    int64_t num_written = 0;
    StreamTables(
        file, tables, stream,
        [&](const ResidualIndex& index, const AttributeSet& table, std::span<const double> counts) {
          publisher.Publish(index, table, counts);
          progress.Show(++num_written, static_cast<int64_t>(tables.size()));
        });
  }
  writer->Finish();
  return {{static_cast<int64_t>(tables.size()), publisher.num_answers(), output},
          std::move(solution)};
}

void Run(const TablesOptions& options) {
  const auto [written, solution] = Write(options);
  if (options.json) {
    nlohmann::ordered_json json = {{"tables", written.num_tables}, {"cells", written.num_answers}};
    if (!options.is_adjusted()) json["confidence"] = options.confidence;
    json["output"] = written.output;
    if (options.nonnegative) json["nonnegative"] = solution;
    fmt::print("{}\n", json.dump(2));
  } else {
    fmt::print("{} {} of {} cells in all written to {}\n", written.num_tables,
               written.num_tables == 1 ? "table" : "tables", written.num_answers, written.output);
  }
  if (options.is_adjusted()) {
    const char* flags = options.nonnegative && options.integers ? "--nonnegative and --integers"
                        : options.nonnegative                   ? "--nonnegative"
                                                                : "--integers";
    fmt::print(stderr,
               "residua: adjusted numbers are biased and carry no exact error bars; the unbiased "
               "tables with theirs come from the same command without {}\n",
               flags);
  }
}

}  // namespace

void CheckTablesOptions(const TablesOptions& options) {
  TwoSidedQuantile(options.confidence);
  FormatOf(options);
}

TablesWritten WriteTables(const TablesOptions& options) { return Write(options).tables; }

void AddTablesCommand(CLI::App* app) {
  auto options = std::make_shared<TablesOptions>();
  CLI::App* command = app->add_subcommand(
      "tables", "Reconstruct tables with their error bars from a measurement file");
  command->footer(
      "Examples:\n"
      "  residua tables measurements.parquet -o tables\n"
      "  residua tables measurements.parquet --table age,sex --confidence 0.99 -o age_and_sex\n"
      "  residua tables measurements.parquet --nonnegative --integers -o for_the_press\n"
      "One row a cell: the attributes, estimate, std_dev, ci_lower, ci_upper. Estimates are "
      "unbiased, so some are negative.\n"
      "--nonnegative and --integers make adjusted tables instead, in files that end in "
      ".adjusted.csv or .adjusted.parquet: the attributes and adjusted. These numbers are biased "
      "and have no exact error bars. Only tables of one run agree with one another.");
  command->add_option("MEASUREMENTS", options->measurements, "The measurement file")->required();
  command->add_option(
      "-o,--output", options->output,
      "The folder (by default tables, or tables.adjusted), or with --one-file the file");
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
  CLI::Option* confidence =
      command->add_option("--confidence", options->confidence, "Of the intervals; by default 0.95");
  command
      ->add_flag("--nonnegative", options->nonnegative,
                 "Adjusted tables: the most likely counts that are not negative; tables agree on "
                 "their common margins and sum to the noisy total")
      ->excludes(confidence);
  command
      ->add_flag("--integers", options->integers,
                 "Adjusted tables: whole numbers; with --nonnegative every table of counts sums to "
                 "the rounded total. Rounded tables agree on common margins only up to rounding")
      ->excludes(confidence);
  command->add_option("--threads", options->threads, "Threads; by default one a processor")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
