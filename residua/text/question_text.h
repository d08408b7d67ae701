#pragma once

#include <string_view>

#include "residua/model/domain.h"
#include "residua/reconstruct/product_query.h"

namespace residua {

// Reads a question such as
//   age=18..30 sex=female region="New York"|Ohio income=..30000
// Terms are separated by spaces: an attribute, and its values, or ranges with one or both ends,
// joined by |. Names and values with spaces, | or .. in them are put in double quotes ("" for a
// quote). A range of an attribute with cuts must begin and end at cuts; `null` is the cell of
// missing values, which no range contains. The selections come in the domain's order; "" asks for
// the total.
ProductQuery ParseQuestion(std::string_view text, const Domain& domain);

}  // namespace residua
