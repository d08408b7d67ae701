#pragma once

#include <string_view>
#include <variant>

#include "residua/model/domain.h"
#include "residua/reconstruct/product_query.h"

namespace residua {

// Reads a question such as
//   age=18..30 sex=female region="New York"|Ohio income=..30000
// Terms are separated by spaces: an attribute, and its values, or ranges with one or both ends,
// joined by |. Names and values with spaces, |, .. or quotes in them are put in double quotes (""
// for a quote), and so are names with =. A range of an attribute with cuts must begin and end at
// cuts; `null` is the cell of missing values, which no open range contains. Dates are written like
// labels of any length: day=2013-01..2013-03 where days are counted. The name of a group stands for
// its cells, and the label of an answer for the cells it counts: age=<=60, age=all,
// income="(10000, 50000]". If a value has the same name as such a label, it is put in quotes. The
// selections come in the domain's order; "" and "total" ask for the total.
//
// Of an attribute whose mean is asked, sum(delay) carrier=AA asks for the sum over the rows that have
// a number, and mean(delay) carrier=AA for their mean; no count of a single number was measured.
// ParseQuestion refuses a mean, which is not the answer to one query.
ProductQuery ParseQuestion(std::string_view text, const Domain& domain);

// The ratio of two answers.
struct MeanQuestion {
  ProductQuery sum;
  ProductQuery count;
};
using AnyQuestion = std::variant<ProductQuery, MeanQuestion>;
AnyQuestion ParseAnyQuestion(std::string_view text, const Domain& domain);

}  // namespace residua
