#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "residua/model/domain.h"

namespace residua {

// The cells first..last of an attribute.
struct CellRange {
  int64_t first = 0;
  int64_t last = 0;
  bool operator==(const CellRange&) const = default;
};

// The cells of one attribute that a question asks for: ranges that increase and do not touch.
struct CellSelection {
  int attribute = 0;
  std::vector<CellRange> cells;
  bool operator==(const CellSelection&) const = default;
};

// Reads a question such as
//   age=18..30 sex=female region="New York"|Ohio income=..30000
// Terms are separated by spaces: an attribute, and its values, or ranges with one or both ends,
// joined by |. Names and values with spaces, | or .. in them stand in double quotes ("" for a
// quote). A range of an attribute with cuts must begin and end at cuts; `null` is the cell of
// missing values, which no range holds. The selections come in the domain's order; "" asks for the
// total.
std::vector<CellSelection> ParseQuestion(std::string_view text, const Domain& domain);

}  // namespace residua
