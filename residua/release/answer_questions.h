#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "residua/reconstruct/estimate.h"

namespace residua {

// The answers to questions such as "age=18..30 sex=female", in their order. Reads from the
// measurement file only what they need. Error{kBadInput} if one of them has no answer.
std::vector<Estimate> AnswerQuestions(const std::filesystem::path& measurements,
                                      std::span<const std::string> questions);

// Two answers of one release share noise, which their covariance tells.
struct Comparison {
  Estimate first, second;
  double covariance = 0;
  double correlation = 0;
  Estimate difference;  // first - second
  Estimate sum;
  std::optional<Interval> ratio;  // first / second, as of RatioInterval
};
Comparison CompareQuestions(const std::filesystem::path& measurements, const std::string& first,
                            const std::string& second, double confidence);

}  // namespace residua
