#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "residua/base/error.h"
#include "residua/data/data_source.h"
#include "residua/select/plan.h"

namespace residua {

// What a curator should know before a release. Nothing stops.
struct ReleaseWarning {
  enum class Kind {
    kLargeEpsilon,  // `value` is epsilon, above kLargeEpsilon
    kLargeDelta,    // `value` is delta, at or above `limit`, which is one over the number of rows
    kMostlyNoise,   // in `value` of `limit` answers the noise is larger than the average count
    kRowsLeftOut,   // `value` of `limit` rows are left out for values without a cell: true counts
  };
  Kind kind = Kind::kLargeEpsilon;
  double value = 0;
  double limit = 0;

  bool operator==(const ReleaseWarning&) const = default;
};

// The warning as one line.
Words WarningWords(const ReleaseWarning& warning);

// Beyond this, a suspicion of 50 % can grow to more than 99.99 %.
inline constexpr double kLargeEpsilon = 10;

// Of a plan. Delta and noise are judged where the number of rows is known; if that is the true one,
// what is said of them is for the curator's eyes only.
//
// A table is mostly noise if the root mean square of its standard deviations is above its average
// answer, were the rows spread evenly over the cells. That is warned of if more than half of all
// answers are in such tables.
std::vector<ReleaseWarning> WarningsOf(const Plan& plan, std::optional<int64_t> num_rows);

// Of the data: more than a tenth of its rows are left out. For the curator's eyes only.
std::vector<ReleaseWarning> WarningsOf(const ReadReport& report);

}  // namespace residua
