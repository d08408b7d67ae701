#pragma once

#include <span>
#include <vector>

#include "residua/select/plan.h"

namespace residua {

// How the residuals of the sets of one orbit are combined. With y_j the integers of part j, s_j its
// scale_bits and s the largest of these,
//   Y = sum_j numerator_j 2^(s - s_j) y_j
// is on the scale 2^(s + kWeightBits), because the numerators add up to 2^kWeightBits. The combined
// integers are Y / 2^`rounding_bits`, rounded to the nearest, ties to even.
struct CombinedOrbit {
  struct Term {
    size_t part = 0;
    int64_t numerator = 0;
    int shift = 0;  // s - s_j
  };
  std::vector<Term> terms;
  int rounding_bits = 0;

  // The values of one part, as they are.
  bool is_single() const { return terms.size() == 1; }
};
inline constexpr int kWeightBits = 24;

// What was not used of the parts.
struct CombinationReport {
  int64_t num_combined = 0;  // sets that several parts measured, and whose values are combined
  int64_t num_single = 0;    // sets of one part alone
  // Sets of a part that were not used, because the bases of some of their attributes are others
  // than those that were measured first.
  int64_t num_other_bases = 0;
  std::vector<int> attributes_of_other_bases;
  // Sets that are taken from the part with the least noise alone: some part drew the noise on whole
  // numbers, as versions up to 0.4 did, and its steps would still show.
  int64_t num_coarse = 0;
  // Tables that were planned for and cannot be made, because of the above or because an earlier
  // measurement that a part builds on is missing.
  int64_t num_lost_tables = 0;
};

struct CombinedPlan {
  Plan plan;
  std::vector<CombinedOrbit> orbits;  // of each of plan.mechanisms
  CombinationReport report;
};

// The plan that several measurements of the same rows make together. Residuals of a set that have
// the same bases are independent unbiased measurements of the same numbers. The best unbiased
// combination weighs them by their precisions, so that
//   1 / variance = sum_j 1 / variance_j,
// set by set, and everything else is as for one measurement of that variance. The costs add up.
//
// Deviation: weights are rounded to multiples of 2^-24, and values to steps below 2^-23 of their
// noise's standard deviation, so that they stay integers on a power-of-two scale however often they
// are combined. `variances` has both: it is the variance at the rounded weights, exactly, and 1/12
// of a squared step. (The noise is spread over so many steps that the rounding error is uniform and
// independent of it, up to exp(-2^48).) It is above the best by less than a relative 2^-24 for
// each part, and for two parts, neither with more than ten times the other's variance, by 2^-40.
//
// The basis of each attribute is that of the first part which measures it. Sets of other parts with
// another basis are left out. Classes are split until every orbit has one noise in each part.
// Error{kBadInput} for fewer than two parts or more than 2^20; Error{kRefused} for parts of other
// attributes, cells or neighbours, or if a measurement comes twice, itself or within a combination;
// Error{kTooLarge} for combinations of combinations beyond kMostNested.
inline constexpr int kMostNested = 32;
CombinedPlan CombinePlans(const std::vector<MeasuredPlan>& parts);

// What a plan and the measurements that it comes after make together, for the plan's own tables and
// objective; the plan itself if it comes after none.
Plan WholePlan(const Plan& plan);

// Error{kRefused} if tables of the plan need measurements that were made before it: they are made
// of the combination with these.
void CheckStandsAlone(const Plan& plan);

// The attributes' classes split until each lies within a class of every part.
AttributeClasses CommonClasses(std::span<const AttributeClasses* const> parts);

// Error{kRefused} unless both count the same rows in the same cells, for the same neighbours.
void CheckSameCells(const Plan& a, const Plan& b);

}  // namespace residua
