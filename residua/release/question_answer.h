#pragma once

#include <optional>
#include <vector>

#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/query_answer.h"
#include "residua/text/question_text.h"

namespace residua {

// What must be answered for it: a count or a sum, or both of a mean.
std::vector<const ProductQuery*> QueriesOf(const AnyQuestion& question);

// The answer to a count or a sum, with its ConfidenceInterval, or to a mean, as of EstimateMean. If
// there are too few rows for a mean there is no interval, and the estimate is not-a-number.
struct QuestionAnswer {
  Estimate estimate;
  std::optional<Interval> interval;
  bool is_mean = false;
};
QuestionAnswer AnswerAny(const ResidualIndex& index, const AnyQuestion& question, double confidence,
                         const ReadPieces& read_elsewhere = {});

// Two answers of one release share noise, which their covariance tells. If one of them is a mean, it
// is the ratio of sum and count, wherever that is, and all but the estimates is by the delta method: as
// if its error were that of (sum - ratio count) / count.
struct Comparison {
  Estimate first, second;
  double covariance = 0;
  double correlation = 0;
  Estimate difference;  // first - second
  Estimate sum;
  std::optional<Interval> ratio;  // first / second, as of RatioInterval
  bool has_mean = false;
};
// Error{kBadInput} for a mean of too few rows.
Comparison CompareAny(const ResidualIndex& index, const AnyQuestion& first,
                      const AnyQuestion& second, double confidence,
                      const ReadPieces& read_elsewhere = {});

}  // namespace residua
