#include "bench/synthetic_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>
#include <random>

namespace residua::bench {

Domain DomainOf(const std::vector<int64_t>& sizes) {
  std::vector<Attribute> attributes(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    attributes[i].name = fmt::format("a{}", i);
    attributes[i].size = sizes[i];
  }
  return Domain(attributes);
}

Domain EqualSizes(int count, int64_t size) {
  return DomainOf(std::vector<int64_t>(static_cast<size_t>(count), size));
}

std::string DifferentSizes(int count) {
  std::vector<int> sizes(static_cast<size_t>(count));
  std::iota(sizes.begin(), sizes.end(), 2);
  return fmt::format("{}", fmt::join(sizes, ","));
}

Domain AdultDomain() { return DomainOf({100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2}); }

EncodedTable UniformTable(const Domain& domain, int64_t num_rows) {
  std::mt19937_64 random(1);
  std::vector<CodeColumn> columns;
  for (const Attribute& attribute : domain.attributes()) {
    CodeColumn column = EmptyCodeColumn(attribute);
    std::visit(
        [&](auto& codes) {
          codes.resize(static_cast<size_t>(num_rows));
          for (auto& code : codes) {
            code = static_cast<std::decay_t<decltype(code)>>(
                (random() >> 32) * static_cast<uint64_t>(attribute.size) >> 32);
          }
        },
        column);
    columns.push_back(std::move(column));
  }
  return EncodedTable(domain, std::move(columns));
}

}  // namespace residua::bench
