#pragma once

#include <string_view>

#include "residua/model/domain.h"

namespace residua {

// "100,50,7*3": a comma list of SIZE[:QUERIES][*COUNT]. Attributes are named by their index.
Domain ParseDomain(std::string_view text);

// "age,sex": names of the domain, or indices where a name does not fit; "" or "total" is the empty
// set.
AttributeSet ParseAttributeSet(std::string_view text, const Domain& domain);

// The attribute of that name; the message of the error suggests the closest one.
int FindAttribute(const Domain& domain, std::string_view name);

}  // namespace residua
