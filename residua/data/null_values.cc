#include "residua/data/null_values.h"

#include <algorithm>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/shown_text.h"

namespace residua {
namespace {

// Lists are short: a search from the front is fastest.
template <typename List, typename Value>
bool Holds(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

NullValues::NullValues(const std::vector<std::string>& texts) : texts_(texts) {
  for (const std::string& text : texts) {
    const std::string_view trimmed = TrimmedNumber(text);
    if (auto decimal = CanonicalDecimal(trimmed)) decimals_.push_back(*std::move(decimal));
    const auto number = ParseNumber(trimmed);
    if (!number) continue;
    numbers_.push_back(*number);
    if (const auto integer = ParseInteger(trimmed)) {
      integers_.push_back(*integer);
    } else if (*number >= -kTwoTo63 && *number < kTwoTo63 &&
               *number == static_cast<double>(static_cast<int64_t>(*number))) {
      integers_.push_back(static_cast<int64_t>(*number));
    }
  }
}

bool NullValues::Contains(std::string_view text) const {
  return Holds(texts_, text) || (text.find('.') != std::string_view::npos && ContainsDecimal(text));
}
bool NullValues::Contains(int64_t value) const { return Holds(integers_, value); }
bool NullValues::Contains(double value) const { return Holds(numbers_, value); }

bool NullValues::ContainsNumber(std::string_view text) const {
  return Contains(text) || ContainsDecimal(text);
}

bool NullValues::ContainsDecimal(std::string_view text) const {
  if (decimals_.empty()) return false;
  const auto decimal = CanonicalDecimal(text);
  return decimal && Holds(decimals_, *decimal);
}

void CheckNullValues(const std::vector<std::string>& texts, const Domain& domain) {
  const NullValues nulls(texts);
  for (const Attribute& attribute : domain.attributes()) {
    const auto* list = std::get_if<ValueEncoding>(&attribute.encoding.cells);
    if (list == nullptr) continue;
    for (const std::string& text : list->values) {
      if (!nulls.Contains(text)) continue;
      Fail(ErrorKind::kBadInput,
           "null_values and {}.values both list '{}', which would never be counted as a "
           "value; keep one",
           SpecKey(attribute), ShownText(text));
    }
  }
}

}  // namespace residua
