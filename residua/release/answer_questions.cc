#include "residua/release/answer_questions.h"

#include "residua/files/measurement_file.h"
#include "residua/release/stream_tables.h"

namespace residua {
namespace {

// Sets of more values are read for each answer, a piece at a time, and not held.
constexpr int64_t kMaxHeldValues = int64_t{1} << 24;

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

}  // namespace

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
