#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands.h"
#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/release/stream_tables.h"
#include "residua/text/question_text.h"

namespace residua::cli {
namespace {

using Json = nlohmann::ordered_json;

struct QueryOptions {
  std::string measurements;
  std::vector<std::string> questions;
  std::string file;
  double confidence = 0.95;
  bool covariance = false;
  bool json = false;
};

std::vector<std::string> Questions(const QueryOptions& options) {
  std::vector<std::string> questions = options.questions;
  if (!options.file.empty()) {
    std::istringstream lines(ReadFile(options.file));
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!line.empty() && line.front() != '#') questions.push_back(line);
    }
  }
  if (questions.empty()) {
    Fail(ErrorKind::kBadInput,
         "no question was asked; ask one like 'age=18..30 sex=female', or name a --file of them");
  }
  if (options.covariance && questions.size() != 2) {
    Fail(ErrorKind::kBadInput, "--covariance takes two questions, not {}", questions.size());
  }
  return questions;
}

Json EstimateJson(const Estimate& estimate, double confidence) {
  const Interval interval = ConfidenceInterval(estimate, confidence);
  return {{"estimate", estimate.value},
          {"std_dev", std::sqrt(estimate.variance)},
          {"ci_lower", interval.lower},
          {"ci_upper", interval.upper}};
}

void PrintEstimate(const std::string& name, const Estimate& estimate, double confidence) {
  const Interval interval = ConfidenceInterval(estimate, confidence);
  fmt::print("{:<40}  {:>14.2f}  {:>12.4g}  {:>14.2f}  {:>14.2f}\n", name, estimate.value,
             std::sqrt(estimate.variance), interval.lower, interval.upper);
}

void PrintHeader(double confidence) {
  fmt::print("{:<40}  {:>14}  {:>12}  {:>14}  {:>14}\n", "", "estimate", "std dev",
             fmt::format("{:g} % from", 100 * confidence), "to");
}

std::string NameOf(const std::string& question) {
  return question.empty() ? "(everyone)" : question;
}

void ReportPair(const QueryOptions& options, const std::vector<std::string>& questions,
                const ResidualIndex& index, const ProductQuery& a, const ProductQuery& b) {
  const Estimate x = Answer(index, a);
  const Estimate y = Answer(index, b);
  const double covariance = Covariance(index, a, b);
  const double correlation = covariance / std::sqrt(x.variance * y.variance);
  const Estimate difference = DifferenceOf(x, y, covariance);
  const Estimate sum = SumOf(x, y, covariance);
  const std::optional<Interval> ratio = RatioInterval(x, y, covariance, options.confidence);
  if (options.json) {
    Json json = {{"confidence", options.confidence},
                 {"covariance", covariance},
                 {"correlation", correlation},
                 {"first", EstimateJson(x, options.confidence)},
                 {"second", EstimateJson(y, options.confidence)},
                 {"difference", EstimateJson(difference, options.confidence)},
                 {"sum", EstimateJson(sum, options.confidence)},
                 {"ratio", nullptr}};
    json["first"]["query"] = questions[0];
    json["second"]["query"] = questions[1];
    if (ratio) {
      json["ratio"] = {
          {"estimate", x.value / y.value}, {"ci_lower", ratio->lower}, {"ci_upper", ratio->upper}};
    }
    fmt::print("{}\n", json.dump(2));
    return;
  }
  PrintHeader(options.confidence);
  PrintEstimate(NameOf(questions[0]), x, options.confidence);
  PrintEstimate(NameOf(questions[1]), y, options.confidence);
  PrintEstimate("difference, first - second", difference, options.confidence);
  PrintEstimate("sum", sum, options.confidence);
  if (ratio) {
    fmt::print("{:<40}  {:>14.6g}  {:>12}  {:>14.6g}  {:>14.6g}\n", "ratio, first / second",
               x.value / y.value, "", ratio->lower, ratio->upper);
  } else {
    fmt::print("{:<40}  the second is too close to 0 for its noise\n", "ratio, first / second");
  }
  fmt::print("\ncovariance {:.6g}, correlation {:.4f}\n", covariance, correlation);
}

void Run(const QueryOptions& options) {
  TwoSidedQuantile(options.confidence);  // refuses a bad confidence before anything is read
  const MeasurementFile file(options.measurements);
  const Domain& domain = file.plan().domain;
  const std::vector<std::string> questions = Questions(options);
  std::vector<ProductQuery> queries;
  std::vector<AttributeSet> tables;
  for (const std::string& question : questions) {
    queries.push_back(ParseQuestion(question, domain));
    tables.push_back(queries.back().attributes());
  }
  const std::vector<NoisyResidual> residuals = ReadSubsets(file, tables);
  const ResidualIndex index = IndexResiduals(file.plan(), residuals);
  if (options.covariance) {
    ReportPair(options, questions, index, queries[0], queries[1]);
    return;
  }
  // All of them before any is printed: one may have no answer.
  std::vector<Estimate> estimates;
  for (const ProductQuery& query : queries) estimates.push_back(Answer(index, query));
  Json answers = Json::array();
  if (!options.json) PrintHeader(options.confidence);
  for (size_t k = 0; k < queries.size(); ++k) {
    if (options.json) {
      Json answer = {{"query", questions[k]}};
      answer.update(EstimateJson(estimates[k], options.confidence));
      answers.push_back(std::move(answer));
    } else {
      PrintEstimate(NameOf(questions[k]), estimates[k], options.confidence);
    }
  }
  if (options.json) {
    const Json json = {{"confidence", options.confidence}, {"answers", std::move(answers)}};
    fmt::print("{}\n", json.dump(2));
  }
}

}  // namespace

void AddQueryCommand(CLI::App* app) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command = app->add_subcommand(
      "query", "Answer questions nobody planned, with standard deviations and intervals");
  command->footer(
      "Examples:\n"
      "  residua query measurements.parquet 'age=18..30 sex=female' 'income=..30000'\n"
      "  residua query measurements.parquet --covariance 'sex=female' 'sex=male'\n"
      "A question is NAME=VALUES terms separated by spaces: values or ranges, joined by |. Open "
      "ranges are ..30 and 65..;\n"
      "names and values with spaces, | or .. go in double quotes; null is the missing values. No "
      "term asks for everyone.");
  command->add_option("MEASUREMENTS", options->measurements, "The measurement file")->required();
  command->add_option("QUESTION", options->questions, "Questions, one an argument");
  command->add_option("--file", options->file, "More questions, one a line; # starts a comment");
  command->add_option("--confidence", options->confidence, "Of the intervals; by default 0.95");
  command->add_flag("--covariance", options->covariance,
                    "Of two questions: covariance, difference, sum and ratio");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
