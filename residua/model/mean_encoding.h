#pragma once

#include <cstdint>
#include <string>

#include "residua/base/rational.h"

namespace residua {

// The numbers low, low + step, ..., high, of which the count, the sum and the mean are asked. `low`,
// `high` and `step` are whole numbers of units of 10^-`decimals`.
//
// A row is split between two cells: of a row with value v, (high - v) / (high - low) is in cell 0
// and (v - low) / (high - low) in cell 1. With n0 and n1 in the cells there are n0 + n1 rows, and
// their values add up to low n0 + high n1. How many numbers there are makes no difference: it is an
// attribute of two cells, whatever the range.
struct MeanEncoding {
  int64_t low = 0;
  int64_t high = 0;
  int64_t step = 1;
  int decimals = 0;
  // Whole numbers, written as integers = [LOW, HIGH]: a value between two of them is outside. Other
  // values are rounded to the nearest step.
  bool is_integers = false;

  // Of an encoding without a fault.
  int64_t num_steps() const { return (high - low) / step; }

  bool operator==(const MeanEncoding&) const = default;
};

// So many steps at most: 32 bits hold a number, and what is noted of it while rows are read.
inline constexpr int64_t kMaxMeanSteps = 500'000'000;

// Of numbers that are decimals, in the fewest decimals. Error{kBadInput} for one that has more than
// 15 digits after the point, or more than 15 digits in all. The rest is for FindFault to say.
MeanEncoding MakeMeanEncoding(const Rational& low, const Rational& high, const Rational& step);

// `value` of these units as a person writes it, and as the nearest double.
std::string DecimalText(int64_t value, int decimals);
double DecimalValue(int64_t value, int decimals);

}  // namespace residua
