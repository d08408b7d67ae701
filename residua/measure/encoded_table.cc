#include "residua/measure/encoded_table.h"

#include <algorithm>
#include <type_traits>

#include "residua/base/error.h"

namespace residua {
namespace {

int64_t StepsOf(const Attribute& attribute) {
  const MeanEncoding* mean = MeanOf(attribute);
  return mean == nullptr ? 0 : mean->num_steps();
}

}  // namespace

CodeColumn EmptyCodeColumn(const Attribute& attribute) {
  if (attribute.size > kMaxEncodedSize) {
    Fail(ErrorKind::kTooLarge,
         "attribute '{}' has {} cells; at most {} can be counted: give it wider cuts or fewer "
         "values",
         attribute.name, attribute.size, kMaxEncodedSize);
  }
  const int64_t num_codes = NumCodes(attribute);
  if (num_codes <= 256) return std::vector<uint8_t>();
  if (num_codes <= 65536) return std::vector<uint16_t>();
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
    const int64_t num_codes = NumCodes(attribute);
    if (column(i).index() != EmptyCodeColumn(attribute).index()) {
      Fail(ErrorKind::kBadInput, "the codes of attribute '{}' have the wrong width for {} codes",
           attribute.name, num_codes);
    }
    std::visit(
        [&](const auto& codes) {
          if (i == 0) num_rows_ = std::ssize(codes);
          if (std::ssize(codes) != num_rows_) {
            Fail(ErrorKind::kBadInput, "attribute '{}' has {} codes and attribute '{}' {}",
                 attribute.name, codes.size(), domain[0].name, num_rows_);
          }
          // Not std::max_element, which remembers where, one code after the other.
          typename std::decay_t<decltype(codes)>::value_type largest = 0;
          for (const auto code : codes) largest = std::max(largest, code);
          if (largest >= num_codes) {
            Fail(ErrorKind::kBadInput, "attribute '{}' has the code {}; its codes run from 0 to {}",
                 attribute.name, largest, num_codes - 1);
          }
        },
        column(i));
    sizes_.push_back(attribute.size);
    steps_.push_back(StepsOf(attribute));
  }
}

bool EncodedTable::IsOf(const Domain& domain) const {
  if (num_columns() != domain.size()) return false;
  for (int i = 0; i < domain.size(); ++i) {
    if (sizes_[static_cast<size_t>(i)] != domain[i].size || steps(i) != StepsOf(domain[i])) {
      return false;
    }
  }
  return true;
}

}  // namespace residua
