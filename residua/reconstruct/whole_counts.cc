#include "residua/reconstruct/whole_counts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "residua/base/error.h"

namespace residua {

void RoundEach(std::span<double> values) {
  for (double& value : values) value = std::round(value) + 0.0;  // no negative zeros
}

void RoundToTotal(double total, std::span<double> counts) {
  double sum = 0;
  for (const double count : counts) {
    if (!(count >= 0) || !std::isfinite(count)) {
      Fail(ErrorKind::kBadInput, "a count of {} cannot be rounded to a total", count);
    }
    sum += count;
  }
  // Below a half, the number of counts to be rounded up is between none and those with a fraction.
  if (!(std::abs(sum - total) <= 0.25)) {
    Fail(ErrorKind::kBadInput, "counts that sum to {} cannot be rounded to a total of {}", sum,
         total);
  }
  std::vector<double> fractions;
  fractions.reserve(counts.size());
  double missing = std::round(total);
  for (double& count : counts) {
    fractions.push_back(count - std::floor(count));
    count = std::floor(count);
    missing -= count;
  }
  std::vector<size_t> order;
  for (size_t c = 0; c < counts.size(); ++c) {
    if (fractions[c] > 0) order.push_back(c);
  }
  RESIDUA_CHECK(missing >= 0 && missing <= static_cast<double>(order.size()));
  const auto middle = order.begin() + static_cast<int64_t>(missing);
  std::nth_element(order.begin(), middle, order.end(), [&](size_t a, size_t b) {
    return fractions[a] != fractions[b] ? fractions[a] > fractions[b] : a < b;
  });
  std::for_each(order.begin(), middle, [&](size_t c) { counts[c] += 1; });
}

}  // namespace residua
