#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace residua {

// Indices into a Domain, strictly increasing. The empty set stands for the total.
using AttributeSet = std::vector<int>;

// The order that sets are listed in: smaller ones first, then the domain's order of attributes.
inline bool ListedBefore(const AttributeSet& a, const AttributeSet& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

inline bool IsSubset(const AttributeSet& a, const AttributeSet& b) {
  return std::includes(b.begin(), b.end(), a.begin(), a.end());
}

// Calls visit(mask, subset) for every subset of a set of fewer than 64 attributes, the empty one
// first and the set itself last: bit k of `mask` is for set[k]. `subset` is a std::span<const int>.
template <typename Visit>
void ForEachSubset(const AttributeSet& set, const Visit& visit) {
  std::array<int, 64> subset;
  for (size_t mask = 0; mask < size_t{1} << set.size(); ++mask) {
    size_t size = 0;
    for (size_t k = 0; k < set.size(); ++k) {
      if ((mask >> k & 1) != 0) subset[size++] = set[k];
    }
    visit(mask, std::span<const int>(subset.data(), size));
  }
}

}  // namespace residua
