#pragma once

#include <span>

namespace residua {

// The nearest whole numbers, halves away from zero.
void RoundEach(std::span<double> values);

// Non-negative counts that sum to `total`, to rounding, become whole numbers that sum to `total`
// rounded as above: each is rounded down, and those with the largest fractions, the first of equal
// ones, up (largest remainders). No count moves by 1 or more. Counts that are negative or not
// finite, or sum to something else, are Error{kBadInput}.
void RoundToTotal(double total, std::span<double> counts);

}  // namespace residua
