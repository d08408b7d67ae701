#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "residua/release/question_answer.h"

namespace residua {

// The answers to questions such as "age=18..30 sex=female", in their order. Reads from the
// measurement file only what they need. Error{kBadInput} if one of them has no answer.
std::vector<QuestionAnswer> AnswerQuestions(const std::filesystem::path& measurements,
                                            std::span<const std::string> questions,
                                            double confidence);

// As of CompareAny.
Comparison CompareQuestions(const std::filesystem::path& measurements, const std::string& first,
                            const std::string& second, double confidence);

}  // namespace residua
