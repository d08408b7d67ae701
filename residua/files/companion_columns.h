#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "residua/files/table_names.h"
#include "residua/model/domain.h"

namespace residua {

// A column beside the labels of an attribute, with a value for each of its answers: something to
// filter by or to compute with, where labels are texts.
struct CompanionColumn {
  std::string name;
  std::variant<std::vector<int64_t>, std::vector<double>, std::vector<std::string>> values;
};

// Of each attribute, by its queries:
//   a hierarchy: the level of each answer;
//   prefix sums and ranges of integers, of cuts and of dates: the least and the greatest value that
//   the answer counts. Of cuts, the bounds of the interval, which does not hold its lower one; the
//   outermost are infinite. Of dates, the first and the last day, as texts. A bound is not a number,
//   or an empty text, where the answer's first or last cell is the one for missing values.
// Other attributes have none.
std::vector<std::vector<CompanionColumn>> CompanionsOf(const Domain& domain,
                                                       const TableNames& names);

}  // namespace residua
