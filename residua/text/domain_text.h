#pragma once

#include <string_view>

#include "residua/model/domain.h"

namespace residua {

// "100,50,7*3": a comma list of SIZE[:QUERIES][*COUNT]. Attributes are named by their index. "100:mean"
// asks for the mean of the integers 0 to 99.
Domain ParseDomain(std::string_view text);

// "age,sex": names of the domain, or indices where no name matches; "" or "total" is the empty set.
// Names with commas, quotes or spaces around them are put in double quotes ("" for a quote); a name
// with commas needs none where it cannot be taken for several. Error{kBadInput} if it can.
AttributeSet ParseAttributeSet(std::string_view text, const Domain& domain);

// The attribute called `name`; the error message suggests the closest name.
int FindAttribute(const Domain& domain, std::string_view name);

}  // namespace residua
