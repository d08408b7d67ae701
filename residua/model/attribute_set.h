#pragma once

#include <vector>

namespace residua {

// Indices into a Domain, strictly increasing. The empty set stands for the total.
using AttributeSet = std::vector<int>;

}  // namespace residua
