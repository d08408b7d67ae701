#include "residua/measure/encoded_table.h"

#include <algorithm>
#include <type_traits>

#include "residua/base/error.h"

namespace residua {

CodeColumn EmptyCodeColumn(const Attribute& attribute) {
  if (attribute.size > kMaxEncodedSize) {
    Fail(ErrorKind::kTooLarge,
         "attribute '{}' has {} cells; at most {} can be counted: give it wider cuts or fewer "
         "values",
         attribute.name, attribute.size, kMaxEncodedSize);
  }
  if (attribute.size <= 256) return std::vector<uint8_t>();
  if (attribute.size <= 65536) return std::vector<uint16_t>();
  return std::vector<uint32_t>();
}

int64_t CodeBytes(const Attribute& attribute) {
  return std::visit([](const auto& codes) { return static_cast<int64_t>(sizeof(codes.front())); },
                    CodeColumn(EmptyCodeColumn(attribute)));
}

EncodedTable::EncodedTable(const Domain& domain, std::vector<CodeColumn> columns)
    : columns_(std::move(columns)) {
  if (num_columns() != domain.size()) {
    Fail(ErrorKind::kBadInput, "the table has {} columns and its domain {} attributes",
         num_columns(), domain.size());
  }
  for (int i = 0; i < domain.size(); ++i) {
    const Attribute& attribute = domain[i];
    if (column(i).index() != EmptyCodeColumn(attribute).index()) {
      Fail(ErrorKind::kBadInput, "the codes of attribute '{}' have the wrong width for {} cells",
           attribute.name, attribute.size);
    }
    std::visit(
        [&](const auto& codes) {
          const auto num_codes = static_cast<int64_t>(codes.size());
          if (i == 0) num_rows_ = num_codes;
          if (num_codes != num_rows_) {
            Fail(ErrorKind::kBadInput, "attribute '{}' has {} codes and attribute '{}' {}",
                 attribute.name, num_codes, domain[0].name, num_rows_);
          }
          // Not std::max_element, which remembers where, one code after the other.
          typename std::decay_t<decltype(codes)>::value_type largest = 0;
          for (const auto code : codes) largest = std::max(largest, code);
          if (largest >= attribute.size) {
            Fail(ErrorKind::kBadInput, "attribute '{}' has the code {}; its codes run from 0 to {}",
                 attribute.name, largest, attribute.size - 1);
          }
        },
        column(i));
    sizes_.push_back(attribute.size);
  }
}

}  // namespace residua
