#pragma once

#include <string>

#include "residua/text/choice_text.h"

namespace residua::bench {

// As the paper means it: the sum of variances counts every cell alike, which makes it the RMSE, and
// the largest variance is that of any cell.
inline Objective PaperObjective(const std::string& text) {
  Objective objective = ParseObjective(text);
  if (objective.kind == Objective::Kind::kSumVariance) objective.weighting = Weighting::kCells;
  return objective;
}

}  // namespace residua::bench
