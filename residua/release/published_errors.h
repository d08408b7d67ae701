#pragma once

#include <string>
#include <vector>

#include "residua/select/plan_errors.h"

namespace residua {

// The errors that the tables of a release will state, known before the data is read. As
// PredictErrors, but with the variance that the discrete noise really has: where a plan asks for
// very little noise, that is below the variance it asks for.
//
// An answer's standard deviation is the root of its variance. Several answers have two: the root
// mean square, which is the root of `mean_variance`, and the largest.
//
// Of a table with an attribute whose mean is asked, the means are over the cells that rows are
// split between, as an objective sees them, and the largest variance is that of all cells and
// counts.
std::vector<TableErrors> PublishedErrors(const Plan& plan);

// The same of the counts alone, which every row of a table has one of: beside a mean, of the counts
// that add up its cells. For readers, and not for FindBetterAlone.
std::vector<TableErrors> CountErrors(const Plan& plan);

// What all that is said of a whole release is taken from. Sums are those of value - LOW, in units
// of HIGH - LOW: they are as exact as a cell of the attribute.
struct PublishedSummary {
  double num_answers = 0;  // rows of tables, each with a count
  double rms_std_dev = 0;  // of the counts, root mean square
  double largest_std_dev = 0;
  double num_sums = 0;
  double largest_sum_std_dev = 0;
};
PublishedSummary SummarizePublished(const Plan& plan);

// The errors of all tables of equal number of attributes.
struct OrderErrors {
  size_t num_attributes = 0;
  double num_tables = 0;
  double num_answers = 0;  // of all of them
  double mean_variance = 0;
  double max_variance = 0;
};
std::vector<OrderErrors> ByOrder(const std::vector<TableErrors>& errors);

// The errors of all answers that have one level along a hierarchy, in all tables with the attribute:
// of each such attribute that is in a table, the highest level first.
struct HierarchyLevel {
  int attribute = 0;
  int64_t level = 0;
  int64_t num_places = 0;  // along the attribute
  std::string example;     // the label of the first of these
  double num_answers = 0;
  double mean_variance = 0;
  double max_variance = 0;
};
std::vector<HierarchyLevel> ByLevel(const Plan& plan, const std::vector<TableErrors>& errors);

// A level in words: "area, level 2 (52 places, such as California)".
std::string LevelInWords(const Domain& domain, const HierarchyLevel& level);

}  // namespace residua
