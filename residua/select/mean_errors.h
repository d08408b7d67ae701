#pragma once

#include <span>
#include <vector>

#include "residua/select/plan.h"

namespace residua {

// The errors that a plan predicts for a table with an attribute whose mean is asked, in the units of
// its numbers: means over the answers along the other attributes.
struct MeanErrors {
  AttributeSet table;
  int attribute = 0;       // the one whose mean is asked
  double num_answers = 0;  // along the others
  double count_variance = 0;
  double sum_variance = 0;
  // The largest variance of sum - m count over all numbers m of the range. By the delta method, the
  // variance of the mean of n rows is at most this / n^2. It is that of a cell, times the square of
  // the range.
  double most_variance = 0;
};

// Of those of `tables` that have such an attribute, in their order.
std::vector<MeanErrors> PredictMeanErrors(const Plan& plan, std::span<const AttributeSet> tables);

}  // namespace residua
