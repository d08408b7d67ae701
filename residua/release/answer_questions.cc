#include "residua/release/answer_questions.h"

#include <cmath>
#include <limits>

#include "residua/base/error.h"
#include "residua/files/measurement_file.h"
#include "residua/reconstruct/mean_estimate.h"
#include "residua/release/stream_tables.h"

namespace residua {
namespace {

// Sets of more values are read for each answer, a piece at a time, and not held.
constexpr int64_t kMaxHeldValues = int64_t{1} << 24;

std::vector<const ProductQuery*> QueriesOf(const AnyQuestion& question) {
  if (const auto* query = std::get_if<ProductQuery>(&question)) return {query};
  const auto& [sum, count] = std::get<MeanQuestion>(question);
  return {&sum, &count};
}

// Calls ask(index, questions, read) with what the questions need of the file; `read` reads what the
// index does not hold.
template <typename Ask>
auto AskFile(const std::filesystem::path& measurements, std::span<const std::string> texts,
             const Ask& ask) {
  const MeasurementFile file(measurements);
  std::vector<AnyQuestion> questions;
  std::vector<AttributeSet> tables;
  for (const std::string& text : texts) {
    questions.push_back(ParseAnyQuestion(text, file.plan().domain));
    for (const ProductQuery* query : QueriesOf(questions.back())) {
      tables.push_back(query->attributes());
    }
  }
  const SubsetResiduals residuals = ReadSmallSubsets(file, tables, kMaxHeldValues);
  const ReadPieces read = [&](const AttributeSet& set,
                              const std::function<void(ResidualValues)>& use) {
    file.ForEachPiece(set, use);
  };
  return ask(IndexResiduals(file.plan(), residuals), questions, read);
}

// An answer and what its error is a combination of, to first order.
struct LinearAnswer {
  struct Term {
    double weight = 0;
    const ProductQuery* query = nullptr;
  };
  Estimate estimate;
  std::vector<Term> terms;
};

std::optional<MeanEstimate> MeanOfQuestion(const ResidualIndex& index, const MeanQuestion& question,
                                           double confidence, const ReadPieces& read) {
  const auto& [sum, count] = question;
  return EstimateMean(RangeOfMean(index.domain(), sum), Answer(index, sum, read),
                      Answer(index, count, read), Covariance(index, sum, count),
                      TwoSidedQuantile(confidence));
}

LinearAnswer Linearised(const ResidualIndex& index, const AnyQuestion& question, double confidence,
                        const ReadPieces& read) {
  if (const auto* query = std::get_if<ProductQuery>(&question)) {
    return {Answer(index, *query, read), {{1, query}}};
  }
  const auto& of_mean = std::get<MeanQuestion>(question);
  const auto mean = MeanOfQuestion(index, of_mean, confidence, read);
  if (!mean) {
    Fail(ErrorKind::kBadInput,
         "one of the means has too few rows for its noise to be compared; ask for more rows at "
         "once");
  }
  const double rows = Answer(index, of_mean.count, read).value;
  return {{mean->ratio, mean->variance},
          {{1 / rows, &of_mean.sum}, {-mean->ratio / rows, &of_mean.count}}};
}

}  // namespace

QuestionAnswer AnswerAny(const ResidualIndex& index, const AnyQuestion& question, double confidence,
                         const ReadPieces& read_elsewhere) {
  if (const auto* query = std::get_if<ProductQuery>(&question)) {
    const Estimate estimate = Answer(index, *query, read_elsewhere);
    return {estimate, ConfidenceInterval(estimate, confidence)};
  }
  const auto mean =
      MeanOfQuestion(index, std::get<MeanQuestion>(question), confidence, read_elsewhere);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!mean) return {{kNone, kNone}, std::nullopt, true};
  return {{mean->value, mean->variance}, mean->interval, true};
}

std::vector<QuestionAnswer> AnswerQuestions(const std::filesystem::path& measurements,
                                            std::span<const std::string> questions,
                                            double confidence) {
  TwoSidedQuantile(confidence);  // refuses a bad confidence before anything is read
  return AskFile(measurements, questions,
                 [&](const ResidualIndex& index, const std::vector<AnyQuestion>& asked,
                     const ReadPieces& read) {
                   std::vector<QuestionAnswer> answers;
                   for (const AnyQuestion& question : asked) {
                     answers.push_back(AnswerAny(index, question, confidence, read));
                   }
                   return answers;
                 });
}

Comparison CompareAny(const ResidualIndex& index, const AnyQuestion& first,
                      const AnyQuestion& second, double confidence,
                      const ReadPieces& read_elsewhere) {
  const LinearAnswer a = Linearised(index, first, confidence, read_elsewhere);
  const LinearAnswer b = Linearised(index, second, confidence, read_elsewhere);
  Comparison both;
  both.first = a.estimate;
  both.second = b.estimate;
  both.has_mean = a.terms.size() > 1 || b.terms.size() > 1;
  for (const LinearAnswer::Term& of_a : a.terms) {
    for (const LinearAnswer::Term& of_b : b.terms) {
      both.covariance += of_a.weight * of_b.weight * Covariance(index, *of_a.query, *of_b.query);
    }
  }
  both.correlation = both.covariance / std::sqrt(both.first.variance * both.second.variance);
  both.difference = DifferenceOf(both.first, both.second, both.covariance);
  both.sum = SumOf(both.first, both.second, both.covariance);
  both.ratio = RatioInterval(both.first, both.second, both.covariance, confidence);
  return both;
}

Comparison CompareQuestions(const std::filesystem::path& measurements, const std::string& first,
                            const std::string& second, double confidence) {
  TwoSidedQuantile(confidence);  // refuses a bad confidence before anything is read
  const std::vector<std::string> questions = {first, second};
  return AskFile(measurements, questions,
                 [&](const ResidualIndex& index, const std::vector<AnyQuestion>& asked,
                     const ReadPieces& read) {
                   return CompareAny(index, asked[0], asked[1], confidence, read);
                 });
}

}  // namespace residua
