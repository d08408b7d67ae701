#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "residua/measure/encoded_table.h"
#include "residua/model/domain.h"

namespace residua {

inline Domain DomainOfSizes(const std::vector<int64_t>& sizes) {
  std::vector<Attribute> attributes;
  for (const int64_t size : sizes) {
    Attribute attribute;
    attribute.name = fmt::format("a{}", attributes.size());
    attribute.size = size;
    attributes.push_back(attribute);
  }
  return Domain(attributes);
}

// Codes leaning towards 0, so that cells differ and a swapped axis shows.
inline EncodedTable RandomTable(const Domain& domain, int64_t num_rows, std::mt19937_64& random) {
  std::vector<CodeColumn> columns;
  for (const Attribute& attribute : domain.attributes()) {
    CodeColumn column = EmptyCodeColumn(attribute);
    std::visit(
        [&](auto& codes) {
          using Code = typename std::decay_t<decltype(codes)>::value_type;
          const auto size = static_cast<uint64_t>(attribute.size);
          for (int64_t row = 0; row < num_rows; ++row) {
            codes.push_back(static_cast<Code>(std::min(random() % size, random() % size)));
          }
        },
        column);
    columns.push_back(std::move(column));
  }
  return EncodedTable(domain, std::move(columns));
}

// All sets of at most `max_size` of `num_attributes` attributes, the empty one included.
inline std::vector<AttributeSet> SetsUpTo(int num_attributes, size_t max_size) {
  std::vector<AttributeSet> sets = {{}};
  for (size_t k = 0; k < sets.size(); ++k) {
    if (sets[k].size() == max_size) continue;
    for (int i = sets[k].empty() ? 0 : sets[k].back() + 1; i < num_attributes; ++i) {
      AttributeSet larger = sets[k];
      larger.push_back(i);
      sets.push_back(larger);
    }
  }
  return sets;
}

}  // namespace residua
