#include "residua/release/answer_questions.h"

#include <cmath>

#include "residua/files/measurement_file.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/release/stream_tables.h"
#include "residua/text/question_text.h"

namespace residua {
namespace {

// Sets of more values are read for each answer, a piece at a time, and not held.
constexpr int64_t kMaxHeldValues = int64_t{1} << 24;

// Calls ask(index, queries, read) with what the questions need of the file; `read` reads what the
// index does not hold.
template <typename Ask>
auto AskFile(const std::filesystem::path& measurements, std::span<const std::string> questions,
             const Ask& ask) {
  const MeasurementFile file(measurements);
  std::vector<ProductQuery> queries;
  std::vector<AttributeSet> tables;
  for (const std::string& question : questions) {
    queries.push_back(ParseQuestion(question, file.plan().domain));
    tables.push_back(queries.back().attributes());
  }
  const SubsetResiduals residuals = ReadSmallSubsets(file, tables, kMaxHeldValues);
  const ReadPieces read = [&](const AttributeSet& set,
                              const std::function<void(ResidualValues)>& use) {
    file.ForEachPiece(set, use);
  };
  return ask(IndexResiduals(file.plan(), residuals), queries, read);
}

}  // namespace

std::vector<Estimate> AnswerQuestions(const std::filesystem::path& measurements,
                                      std::span<const std::string> questions) {
  return AskFile(measurements, questions,
                 [](const ResidualIndex& index, const std::vector<ProductQuery>& queries,
                    const ReadPieces& read) {
                   std::vector<Estimate> answers;
                   for (const ProductQuery& query : queries) {
                     answers.push_back(Answer(index, query, read));
                   }
                   return answers;
                 });
}

Comparison CompareQuestions(const std::filesystem::path& measurements, const std::string& first,
                            const std::string& second, double confidence) {
  TwoSidedQuantile(confidence);  // refuses a bad confidence before anything is read
  const std::vector<std::string> questions = {first, second};
  return AskFile(measurements, questions,
                 [&](const ResidualIndex& index, const std::vector<ProductQuery>& queries,
                     const ReadPieces& read) {
                   Comparison both;
                   both.first = Answer(index, queries[0], read);
                   both.second = Answer(index, queries[1], read);
                   both.covariance = Covariance(index, queries[0], queries[1]);
                   both.correlation =
                       both.covariance / std::sqrt(both.first.variance * both.second.variance);
                   both.difference = DifferenceOf(both.first, both.second, both.covariance);
                   both.sum = SumOf(both.first, both.second, both.covariance);
                   both.ratio = RatioInterval(both.first, both.second, both.covariance, confidence);
                   return both;
                 });
}

}  // namespace residua
