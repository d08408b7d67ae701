#pragma once

#include <cstdint>
#include <vector>

#include "residua/model/attribute.h"

namespace residua {

// What each answer of an attribute counts for in an objective. With n_l the number of answers of
// level l, L the number of levels and w_l the attribute's `level_weights`,
//   importance of an answer = w_l / (mean of w),    share = importance / (n_l L),
// so that shares sum to 1 and the mean by shares is sum_l w_l (mean over level l) / sum_l w_l. Of an
// attribute without `level_weights` every importance is 1, every share 1 / (number of answers).
//
// The mean variance of a table, where an objective asks for it, is the one by shares; its largest
// variance is that of importance * variance. The first is never above the second.
struct AnswerWeights {
  std::vector<double> importance;
  std::vector<double> share;
};
AnswerWeights WeighAnswers(const Attribute& attribute);

// The number of answers of each level; all of them as one, but for a hierarchy.
std::vector<int64_t> AnswersOfLevels(const Attribute& attribute);

// The weights of levels that can be planned for. Beyond, a level is all that matters, or nothing.
inline constexpr double kLeastLevelWeight = 1e-3;
inline constexpr double kMostLevelWeight = 1e3;

// Error{kBadInput} with the remedy unless the attribute's `level_weights` are empty, or it is a
// hierarchy with as many levels and each is within these. Its groups must have been checked.
void CheckLevelWeights(const Attribute& attribute);

}  // namespace residua
