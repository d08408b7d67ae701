#include <cmath>
#include <sstream>

#include "cli/commands.h"
#include "cli/measurement_argument.h"
#include "cli/print_text.h"
#include "residua/base/error.h"
#include "residua/files/file.h"
#include "residua/reconstruct/estimate.h"
#include "residua/release/answer_questions.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

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
         "no question was asked; ask one such as 'age=18..30 sex=female', or name a --file of "
         "questions");
  }
  if (options.covariance && questions.size() != 2) {
    Fail(ErrorKind::kBadInput, "--covariance takes two questions, not {}", questions.size());
  }
  return questions;
}

constexpr std::string_view kTooFewRows = "too few rows for a mean at this noise";

Json AnswerJson(const QuestionAnswer& answer) {
  if (!answer.interval) {
    return {{"estimate", nullptr},
            {"std_dev", nullptr},
            {"ci_lower", nullptr},
            {"ci_upper", nullptr},
            {"note", kTooFewRows}};
  }
  return {{"estimate", answer.estimate.value},
          {"std_dev", std::sqrt(answer.estimate.variance)},
          {"ci_lower", answer.interval->lower},
          {"ci_upper", answer.interval->upper}};
}

void PrintAnswer(const std::string& name, const QuestionAnswer& answer) {
  if (!answer.interval) {
    PrintText("{:<40}  {}\n", name, kTooFewRows);
    return;
  }
  PrintText("{:<40}  {:>14.2f}  {:>12.4g}  {:>14.2f}  {:>14.2f}\n", name, answer.estimate.value,
            std::sqrt(answer.estimate.variance), answer.interval->lower, answer.interval->upper);
}

Json EstimateJson(const Estimate& estimate, double confidence) {
  return AnswerJson({estimate, ConfidenceInterval(estimate, confidence)});
}

void PrintEstimate(const std::string& name, const Estimate& estimate, double confidence) {
  PrintAnswer(name, {estimate, ConfidenceInterval(estimate, confidence)});
}

void PrintHeader(double confidence) {
  PrintText("{:<40}  {:>14}  {:>12}  {:>14}  {:>14}\n", "", "estimate", "std dev",
            fmt::format("{:g} % from", 100 * confidence), "to");
}

std::string NameOf(const std::string& question) {
  return question.empty() ? "(everyone)" : question;
}

constexpr std::string_view kDeltaMethod = "delta method";

void ReportPair(const QueryOptions& options, const std::vector<std::string>& questions) {
  const Comparison both =
      CompareQuestions(options.measurements, questions[0], questions[1], options.confidence);
  if (options.json) {
    Json json = {{"confidence", options.confidence},
                 {"covariance", both.covariance},
                 {"correlation", both.correlation},
                 {"first", EstimateJson(both.first, options.confidence)},
                 {"second", EstimateJson(both.second, options.confidence)},
                 {"difference", EstimateJson(both.difference, options.confidence)},
                 {"sum", EstimateJson(both.sum, options.confidence)},
                 {"ratio", nullptr}};
    if (both.has_mean) json["method"] = kDeltaMethod;
    json["first"]["query"] = questions[0];
    json["second"]["query"] = questions[1];
    if (both.ratio) {
      json["ratio"] = {{"estimate", both.first.value / both.second.value},
                       {"ci_lower", both.ratio->lower},
                       {"ci_upper", both.ratio->upper}};
    }
    fmt::print("{}\n", IndentedJson(json));
    return;
  }
  PrintHeader(options.confidence);
  PrintEstimate(NameOf(questions[0]), both.first, options.confidence);
  PrintEstimate(NameOf(questions[1]), both.second, options.confidence);
  PrintEstimate("difference, first - second", both.difference, options.confidence);
  PrintEstimate("sum", both.sum, options.confidence);
  if (both.ratio) {
    PrintText("{:<40}  {:>14.6g}  {:>12}  {:>14.6g}  {:>14.6g}\n", "ratio, first / second",
              both.first.value / both.second.value, "", both.ratio->lower, both.ratio->upper);
  } else {
    PrintText("{:<40}  the second is too close to 0 compared with its noise\n",
              "ratio, first / second");
  }
  PrintText("\ncovariance {:.6g}, correlation {:.4f}\n", both.covariance, both.correlation);
  if (both.has_mean) {
    PrintText(
        "means are sum / count, also outside their range; their errors, and what follows from "
        "them, "
        "are by the {}\n",
        kDeltaMethod);
  }
}

void Run(const QueryOptions& options) {
  TwoSidedQuantile(options.confidence);  // refuses a bad confidence before anything is read
  const std::vector<std::string> questions = Questions(options);
  if (options.covariance) {
    ReportPair(options, questions);
    return;
  }
  const std::vector<QuestionAnswer> found =
      AnswerQuestions(options.measurements, questions, options.confidence);
  Json answers = Json::array();
  if (!options.json) PrintHeader(options.confidence);
  for (size_t k = 0; k < questions.size(); ++k) {
    if (options.json) {
      Json answer = {{"query", questions[k]}};
      answer.update(AnswerJson(found[k]));
      answers.push_back(std::move(answer));
    } else {
      PrintAnswer(NameOf(questions[k]), found[k]);
    }
  }
  if (options.json) {
    const Json json = {{"confidence", options.confidence}, {"answers", std::move(answers)}};
    fmt::print("{}\n", IndentedJson(json));
  }
}

}  // namespace

void AddQueryCommand(CLI::App* app) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command = app->add_subcommand(
      "query", "Answer questions that nobody planned, with standard deviations and intervals");
  command->footer(
      "Examples:\n"
      "  residua query measurements.parquet 'age=18..30 sex=female' 'income=..30000'\n"
      "  residua query measurements.parquet --covariance 'sex=female' 'sex=male'\n"
      "A question is NAME=VALUES terms separated by spaces: values or ranges, joined by |. Open "
      "ranges are ..30 and 65..;\n"
      "names and values with spaces, | or .. go in double quotes; null means missing values. "
      "Without terms it asks for everyone.\n"
      "mean(delay) carrier=AA and sum(delay) carrier=AA ask for a number whose mean was measured.");
  AcceptReleaseFolder(command->add_option("MEASUREMENTS", options->measurements,
                                          "The measurement file, or the folder of a release"))
      ->required();
  command->add_option("QUESTION", options->questions, "Questions, one per argument");
  command->add_option("--file", options->file, "More questions, one per line; # starts a comment");
  command->add_option("--confidence", options->confidence,
                      "Confidence of the intervals; by default 0.95");
  command->add_flag("--covariance", options->covariance,
                    "Compare two questions: covariance, difference, sum and ratio");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
