#pragma once

#include <vector>

namespace residua {

// Indices into a Domain, strictly increasing. The empty set stands for the total.
using AttributeSet = std::vector<int>;

// The order that sets are listed in: smaller ones first, then the domain's order of attributes.
inline bool ListedBefore(const AttributeSet& a, const AttributeSet& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace residua
