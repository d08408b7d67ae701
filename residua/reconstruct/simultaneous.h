#pragma once

#include <span>

#include "residua/model/attribute_set.h"
#include "residua/select/plan.h"

namespace residua {

struct AxisAnswers;  // reconstruct/table_answers.h

// What holds the true value with the stated confidence: each interval for itself, all intervals of
// a table at once, or those of all tables of the release.
enum class Coverage { kEachAnswer, kTable, kRelease };

// The c such that all answers of the tables are within c standard deviations of the true ones, at
// once, with probability `confidence`. `axes` has one for each attribute of the plan.
//
// Of m answers, c is at most Sidak's: P(all |Z_k| <= c) >= P(|Z| <= c)^m for normal errors of any
// covariance. Where m is at most kMostSimulated, the plan's noise is simulated kNumSimulated times,
// and c is the order statistic of the largest error that is at or above the quantile with a
// confidence of 99 %, if that is less. Simulated noise is normal, of the plan's variances, from a
// fixed seed: no measurement and no data is used, and the same plan gives the same c.
inline constexpr int64_t kMostSimulated = int64_t{1} << 15;
inline constexpr int kNumSimulated = 8000;
double SimultaneousFactor(const Plan& plan, std::span<const AttributeSet> tables,
                          std::span<const AxisAnswers> axes, double confidence);

}  // namespace residua
