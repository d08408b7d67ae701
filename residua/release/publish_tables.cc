#include "residua/release/publish_tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "residua/base/error.h"
#include "residua/base/memory.h"
#include "residua/base/version.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/nonnegative_tables.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/whole_counts.h"
#include "residua/release/stream_tables.h"
#include "residua/select/combined_plan.h"
#include "residua/text/domain_text.h"
#include "residua/text/json_text.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

// 2: with one file, a column for each attribute; in CSV, rounded numbers.
constexpr int kTablesVersion = 2;

TableColumns ColumnsOf(const TablesRequest& request) {
  if (request.integers) return TableColumns::kAdjustedWhole;
  return request.nonnegative ? TableColumns::kAdjusted : TableColumns::kEstimates;
}

// Adjusted tables say so in the name of their file or, in a folder, of each file.
fs::path OutputOf(const TablesRequest& request) {
  const bool is_one_file = request.format == TableFormat::kOneParquet;
  if (!request.is_adjusted()) {
    if (!request.output.empty()) return request.output;
    return is_one_file ? "tables.parquet" : "tables";
  }
  if (!is_one_file) return request.output.empty() ? "tables.adjusted" : request.output;
  const std::string ending = ".adjusted.parquet";
  std::string output = request.output.empty() ? "tables" : request.output.string();
  if (output.ends_with(ending)) return output;
  if (output.ends_with(".parquet")) output.resize(output.size() - std::strlen(".parquet"));
  return output + ending;
}

// Where the tables come from and what is promised; kept beside them.
std::string About(const TablesRequest& request, const Plan& plan, const TableLayout& layout,
                  const TablesWritten& written) {
  const Guarantee guarantee = GuaranteeOf(plan);
  Json json = {
      {"format", "residua-tables"},
      {"version", kTablesVersion},
      {"tool", fmt::format("residua {}", Version())},
      {"neighbours", NeighboursInWords(plan.protection)},
      {"guarantee",
       {{"rho", guarantee.rho}, {"epsilon", guarantee.epsilon}, {"delta", guarantee.delta}}}};
  if (guarantee.mu) json["guarantee"]["mu"] = *guarantee.mu;
  if (request.is_adjusted()) {
    json["adjusted"] =
        fmt::format("{}{}{}; biased; no error bars", request.nonnegative ? "non-negative" : "",
                    request.nonnegative && request.integers ? ", " : "",
                    request.integers ? "rounded to whole numbers, each table by itself" : "");
  } else {
    json["confidence"] = request.confidence;
    if (request.coverage != Coverage::kEachAnswer) {
      json["intervals"] = request.coverage == Coverage::kTable
                              ? "with this confidence, all of a table at once"
                              : "with this confidence, all of all tables at once";
    }
    json["estimates"] = "unbiased; signed; std_dev and intervals are exact for the noise added";
    if (!layout.is_mean.empty()) {
      json["means"] =
          "sum / estimate, held to the range of the numbers; estimate counts the rows with a "
          "number; "
          "intervals are Fieller's within that range, mean_std_dev is by the delta method; empty "
          "where the rows are too few for a mean at this noise";
    }
    if (request.format == TableFormat::kCsv && request.digits == TableDigits::kSupported) {
      json["digits"] =
          "rounded to three digits below the first digit of the table's smallest std_dev; "
          "intervals rounded outwards";
    }
  }
  for (const auto& [attribute, column] : written.renamed) json["columns"][attribute] = column;
  for (int i = 0; i < plan.domain.size(); ++i) {
    const auto k = static_cast<size_t>(i);
    for (const CompanionColumn& companion : layout.CompanionsAt(k)) {
      json["companions"][plan.domain[i].name].push_back(companion.name);
    }
  }
  return IndentedJson(json) + "\n";
}

// And how many of the workload's are not adjusted.
std::vector<AttributeSet> ChosenTables(const TablesRequest& request, const Plan& plan,
                                       int64_t* num_left_out) {
  std::vector<AttributeSet> tables;
  for (const std::string& text : request.tables) {
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
  if (request.is_adjusted()) {
    *num_left_out = static_cast<int64_t>(std::erase_if(
        tables, [&](const AttributeSet& set) { return MeanAttribute(plan.domain, set) >= 0; }));
    if (tables.empty()) {
      Fail(ErrorKind::kBadInput,
           "all tables have sums and means, which cannot be adjusted; name a table without them");
    }
  }
  return tables;
}

std::vector<std::pair<std::string, std::string>> Renamed(const Domain& domain,
                                                         const TableNames& names) {
  std::vector<std::pair<std::string, std::string>> renamed;
  for (int i = 0; i < domain.size(); ++i) {
    const std::string& column = names.columns[static_cast<size_t>(i)];
    if (column != domain[i].name) renamed.emplace_back(domain[i].name, column);
  }
  return renamed;
}

// Of each attribute; empty if none is.
std::vector<bool> AreMeans(const Domain& domain) {
  std::vector<bool> is_mean;
  bool any = false;
  for (const Attribute& attribute : domain.attributes()) {
    is_mean.push_back(MeanOf(attribute) != nullptr);
    any |= is_mean.back();
  }
  return any ? is_mean : std::vector<bool>();
}

// Publishes tables one after the other, from their counts.
class TablePublisher {
 public:
  TablePublisher(const TablesRequest& request, const Plan& plan,
                 const std::vector<AxisAnswers>& axes, TableWriter* writer)
      : request_(request), plan_(plan), writer_(writer), axis_of_attribute_(axes) {
    if (request.coverage == Coverage::kEachAnswer) {
      one_factor_ = TwoSidedQuantile(request.confidence);
    }
  }

  // Of all the tables that are published, before the first.
  void CoverAll(std::span<const AttributeSet> tables) {
    one_factor_ = SimultaneousFactor(plan_, tables, axis_of_attribute_, request_.confidence);
  }

  // Before any table is made.
  void CheckWhole(const std::vector<AttributeSet>& tables) const {
    std::set<int> attributes;
    for (const AttributeSet& table : tables) attributes.insert(table.begin(), table.end());
    for (const int i : attributes) {
      CheckWholeAnswers(plan_.domain[i], axis_of_attribute_[static_cast<size_t>(i)].queries);
    }
  }

  int64_t num_answers() const { return num_answers_; }

  // With the error bars that the index gives, unless the tables are adjusted.
  void Publish(const TablePiece& piece) {
    const auto& [index, table, counts, first] = piece;
    PublishedTable published{.attributes = table};
    published.first = first;
    std::vector<const AxisAnswers*> axes;
    for (const int i : table) axes.push_back(&axis_of_attribute_[static_cast<size_t>(i)]);
    const bool identity = std::all_of(axes.begin(), axes.end(), [](const AxisAnswers* axis) {
      return axis->variances.size() == 1;
    });
    if (const int mean = MeanAttribute(plan_.domain, table); mean >= 0) {
      return PublishMeans(piece, mean);
    }
    const bool is_rounded_here = request_.integers && !request_.nonnegative;
    std::vector<double> answers;
    if (!identity || is_rounded_here) answers = AnswerTable(counts, axes);
    if (is_rounded_here) RoundEach(answers);
    published.estimates = answers.empty() ? counts : std::span<const double>(answers);
    std::vector<double> std_devs;
    if (!request_.is_adjusted()) {
      const double interval_factor = IntervalFactor(table);
      std_devs = AnswerVariances(index, table, axes);
      if (const double half_step = TableHalfStep(index, table, axes, std_devs); half_step > 0) {
        published.widening = IntervalWidening(
            interval_factor, *std::min_element(std_devs.begin(), std_devs.end()), half_step);
      }
      for (double& value : std_devs) value = std::sqrt(value);
      published.std_devs = std_devs;
      published.interval_factor = interval_factor;
    }
    writer_->Write(published);
    num_answers_ += static_cast<int64_t>(published.estimates.size());
  }

 private:
  void PublishMeans(const TablePiece& piece, int mean) {
    const auto& [index, table, counts, first] = piece;
    // Such tables are not adjusted, and not made in pieces.
    RESIDUA_CHECK(!request_.is_adjusted() && first == 0 &&
                  std::ssize(counts) == index.NumCells(table));
    const double interval_factor = IntervalFactor(table);
    const MeanColumns columns =
        MeanColumnsOf(plan_, index, table, axis_of_attribute_, counts, interval_factor);
    PublishedTable published{.attributes = table, .named = table};
    std::erase(published.attributes, mean);
    published.estimates = columns.counts;
    published.std_devs = columns.count_std_devs;
    published.interval_factor = interval_factor;
    published.means = &columns;
    writer_->Write(published);
    num_answers_ += static_cast<int64_t>(published.estimates.size());
  }

  // Tables of attributes that are alike have the same.
  double IntervalFactor(const AttributeSet& table) {
    if (one_factor_) return *one_factor_;
    std::vector<int> classes;
    for (const int i : table) {
      classes.push_back(plan_.classes.class_of[static_cast<size_t>(i)]);
    }
    std::sort(classes.begin(), classes.end());
    const auto [known, is_new] = factor_of_classes_.try_emplace(std::move(classes), 0);
    if (is_new) {
      known->second =
          SimultaneousFactor(plan_, std::span(&table, 1), axis_of_attribute_, request_.confidence);
    }
    return known->second;
  }

  const TablesRequest& request_;
  const Plan& plan_;
  TableWriter* writer_;
  std::optional<double> one_factor_;  // of all tables
  std::map<std::vector<int>, double> factor_of_classes_;
  const std::vector<AxisAnswers>& axis_of_attribute_;
  int64_t num_answers_ = 0;
};

// All tables at once, as they must agree.
NonnegativeFit PublishNonnegative(const TablesRequest& request, const MeasurementFile& file,
                                  const std::vector<AttributeSet>& tables,
                                  TablePublisher* publisher) {
  const Plan& plan = file.plan();
  if (request.integers) publisher->CheckWhole(tables);
  const std::vector<NoisyResidual> residuals = ReadSubsets(file, tables);
  const ResidualIndex index = IndexResiduals(plan, residuals);
  NonnegativeOptions options;
  options.num_threads = request.num_threads;
  options.memory_budget_bytes = MemoryOfMachine() / 2;
  const NonnegativeTables result = ReconstructNonnegative(index, tables, options);
  for (const AttributeSet& table : tables) {
    std::vector<double> counts = CountsOf(result, plan.domain, table);
    if (request.integers) RoundToTotal(result.total, counts);
    publisher->Publish({index, table, counts});
  }
  return {result.iterations, result.objective, result.max_deviation, result.mixed_in,
          result.max_deviation <= options.max_deviation};
}

}  // namespace

void CheckWholeAnswers(const Attribute& attribute, const QueryMatrix& queries) {
  if (attribute.queries != QueryKind::kCustom) return;
  for (int64_t k = 0; k < queries.num_answers(); ++k) {
    for (const double weight : queries.Row(k)) {
      if (weight == std::floor(weight)) continue;
      Fail(ErrorKind::kBadInput,
           "the queries of '{}' weight cells by {}, so that whole cells do not give whole answers; "
           "leave out {}, or ask for the cells",
           attribute.name, weight, Phrase{Phrase::Kind::kOption, {"integers"}});
    }
  }
}

void CheckNoMeans(const Domain& domain, std::span<const AttributeSet> tables) {
  for (const AttributeSet& table : tables) {
    const int mean = MeanAttribute(domain, table);
    if (mean < 0) continue;
    Fail(ErrorKind::kBadInput,
         "{} has sums and means of '{}', which cannot be adjusted; choose tables without it",
         SetName(domain, table), domain[mean].name);
  }
}

void CheckTablesRequest(const TablesRequest& request) {
  TwoSidedQuantile(request.confidence);
  if (request.format == TableFormat::kOneParquet && request.output.extension() == ".csv") {
    Fail(ErrorKind::kBadInput,
         "{}: one file of all tables is a Parquet file; give it a name that ends in .parquet",
         request.output.string());
  }
}

TablesWritten PublishTables(const TablesRequest& request) {
  CheckTablesRequest(request);
  const MeasurementFile file(request.measurements);
  CheckStandsAlone(file.plan());
  const Plan& plan = file.plan();
  int64_t num_left_out = 0;
  const std::vector<AttributeSet> tables = ChosenTables(request, plan, &num_left_out);
  TablesWritten written{std::ssize(tables), 0, OutputOf(request)};
  written.num_means_left_out = num_left_out;
  const std::vector<AxisAnswers> axes = AxesOf(plan, request.answers);
  TableLayout layout{.format = request.format,
                     .columns = ColumnsOf(request),
                     .digits = request.digits,
                     .names = NamesOf(plan.domain),
                     .num_threads = request.num_threads};
  for (const AxisAnswers& axis : axes) layout.labels.push_back(axis.labels);
  if (request.is_adjusted()) {
    CheckNoMeans(plan.domain, tables);
  } else {
    layout.is_mean = AreMeans(plan.domain);
  }
  if (request.answers != AnswerKind::kCells) {
    layout.companions = CompanionsOf(plan.domain, layout.names);
  }
  written.renamed = Renamed(plan.domain, layout.names);
  layout.about = About(request, plan, layout, written);
  const auto writer = MakeTableWriter(written.output, std::move(layout));
  TablePublisher publisher(request, plan, axes, writer.get());
  if (request.coverage == Coverage::kRelease && !request.is_adjusted()) publisher.CoverAll(tables);
  if (request.nonnegative) {
    written.fit = PublishNonnegative(request, file, tables, &publisher);
  } else {
    StreamOptions stream;
    stream.reconstruct.num_threads = request.num_threads;
    int64_t num_written = 0;
    const auto count_table = [&] {
      if (request.on_table) request.on_table(++num_written, written.num_tables);
    };
    stream.visit_slab = [&](const TablePiece& piece) {
      publisher.Publish(piece);
      const int64_t end = piece.first + std::ssize(piece.counts);
      if (end == piece.index.NumCells(piece.table)) count_table();
    };
    StreamTables(
        file, tables, stream,
        [&](const ResidualIndex& index, const AttributeSet& table, std::span<const double> counts) {
          publisher.Publish({index, table, counts});
          count_table();
        });
  }
  writer->Finish();
  written.num_answers = publisher.num_answers();
  return written;
}

}  // namespace residua
