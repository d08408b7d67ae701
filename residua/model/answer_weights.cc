#include "residua/model/answer_weights.h"

#include <algorithm>
#include <numeric>

#include "residua/base/error.h"

namespace residua {

std::vector<int64_t> AnswersOfLevels(const Attribute& attribute) {
  if (attribute.queries != QueryKind::kHierarchy) return {NumAnswers(attribute)};
  const std::vector<int64_t> levels = AnswerLevels(attribute);
  std::vector<int64_t> count(
      static_cast<size_t>(1 + *std::max_element(levels.begin(), levels.end())), 0);
  for (const int64_t level : levels) ++count[static_cast<size_t>(level)];
  return count;
}

AnswerWeights WeighAnswers(const Attribute& attribute) {
  const auto num_answers = static_cast<size_t>(NumAnswers(attribute));
  if (attribute.level_weights.empty()) {
    return {std::vector<double>(num_answers, 1.0),
            std::vector<double>(num_answers, 1 / static_cast<double>(num_answers))};
  }
  const std::vector<double>& weight = attribute.level_weights;
  const std::vector<int64_t> count = AnswersOfLevels(attribute);
  RESIDUA_CHECK(count.size() == weight.size());
  const auto num_levels = static_cast<double>(count.size());
  const double mean = std::accumulate(weight.begin(), weight.end(), 0.0) / num_levels;
  AnswerWeights weights;
  for (const int64_t level : AnswerLevels(attribute)) {
    const auto l = static_cast<size_t>(level);
    weights.importance.push_back(weight[l] / mean);
    weights.share.push_back(weight[l] / mean / (static_cast<double>(count[l]) * num_levels));
  }
  return weights;
}

void CheckLevelWeights(const Attribute& attribute) {
  if (attribute.level_weights.empty()) return;
  if (attribute.queries != QueryKind::kHierarchy) {
    Fail(ErrorKind::kBadInput,
         "attribute '{}' has level weights but no hierarchy; give it one, or leave them out",
         attribute.name);
  }
  const size_t num_levels = AnswersOfLevels(attribute).size();
  if (attribute.level_weights.size() != num_levels) {
    Fail(ErrorKind::kBadInput,
         "attribute '{}' has {} level {} for {} levels; give one for each, that of single values "
         "first",
         attribute.name, attribute.level_weights.size(),
         attribute.level_weights.size() == 1 ? "weight" : "weights", num_levels);
  }
  for (const double weight : attribute.level_weights) {
    if (weight >= kLeastLevelWeight && weight <= kMostLevelWeight) continue;
    Fail(ErrorKind::kBadInput,
         "attribute '{}' has the level weight {}; it must be between {} and {}", attribute.name,
         weight, kLeastLevelWeight, kMostLevelWeight);
  }
}

}  // namespace residua
