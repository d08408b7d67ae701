#pragma once

#include <vector>

#include "residua/select/plan_errors.h"

namespace residua {

// How large the noise of a table will be beside its answers, were the rows spread evenly over its
// cells. Known before the data is read, if the number of rows is.
struct ExpectedErrors {
  TableErrors errors;         // as CountErrors gives them
  double average_answer = 0;  // the number of rows over the number of cells, if cells are counted
  double std_dev = 0;         // of its counts, root mean square

  double relative_error() const { return std_dev / average_answer; }
  // The noise is above the average answer. Not-a-number is mostly noise too.
  bool is_mostly_noise() const { return !(std_dev <= average_answer); }
};

// The share of all rows in an average answer along the attribute, were they spread evenly over its
// cells. A count beside a mean has all.
double AverageShare(const Attribute& attribute);

// One for each orbit of the plan's workload, as CountErrors.
std::vector<ExpectedErrors> ExpectErrors(const Plan& plan, double num_rows);

}  // namespace residua
