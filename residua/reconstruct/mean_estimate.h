#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "residua/model/mean_encoding.h"
#include "residua/reconstruct/estimate.h"
#include "residua/reconstruct/product_query.h"
#include "residua/reconstruct/residual_index.h"

namespace residua {

struct AxisAnswers;  // reconstruct/table_answers.h

// The mean of some rows' numbers: the ratio of their sum to their count, two estimates that share
// noise. `variance` is that of the ratio by the delta method: that of (sum - ratio count) / count,
// with the estimates in place of the true numbers. `interval` is Fieller's, which needs no such
// approximation.
//
// The true mean is in the range of the numbers, which is public. So `value` is the point of the range
// nearest to `ratio`, and `interval` is what Fieller's has in common with the range, which covers as
// often. By chance they may have nothing in common; then it is the end of the range that is nearer,
// and as much of the range beside it as Fieller's interval is wide.
struct MeanEstimate {
  double value = 0;
  double ratio = 0;
  double variance = 0;
  Interval interval;
};

// Nothing where the rows are too few for a mean at this noise: where the count is not positive, or
// its own interval reaches 0, so that no bounded interval has the confidence that belongs to
// `quantile`; and where Fieller's interval has all of `range` in it, and so tells nothing.
std::optional<MeanEstimate> EstimateMean(const Interval& range, const Estimate& sum,
                                         const Estimate& count, double covariance, double quantile);

// From the lowest number to the highest.
Interval RangeOf(const MeanEncoding& mean);

// The range of the mean whose sum is asked. It is unbounded if rows have negative weights: then the
// ratio is no mean of rows, and can be any number.
Interval RangeOfMean(const Domain& domain, const ProductQuery& sum);

// The numbers of a table with an attribute whose mean is asked, one of each for every answer along
// the other attributes. Where the rows are too few for a mean, it and all that belongs to it is
// not-a-number.
struct MeanColumns {
  std::vector<double> counts, count_std_devs;
  std::vector<double> sums, sum_std_devs;
  std::vector<double> means, mean_std_devs, mean_lower, mean_upper;
};

// Along the attribute of a mean, a table has three answers: what is in the cell of the lowest number,
// in that of the highest, and in both together; and a fourth, the missing values, if they have a
// cell. From these and their variances follow all others.
AxisAnswers MeanAxis(const Attribute& attribute, const ResidualBasis& basis);

// Of the table, which has an attribute whose mean is asked, from its counts and the AxesOf the plan.
MeanColumns MeanColumnsOf(const Plan& plan, const ResidualIndex& index, const AttributeSet& table,
                          std::span<const AxisAnswers> axis_of_attribute,
                          std::span<const double> counts, double quantile);

// From the table's answers and their variances, with the MeanAxis at place `axis` of `axes`.
MeanColumns MakeMeanColumns(const MeanEncoding& mean, std::span<const double> answers,
                            std::span<const double> variances,
                            std::span<const AxisAnswers* const> axes, size_t axis, double quantile);

}  // namespace residua
