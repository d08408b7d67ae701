#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"

namespace residua {

// A whole number that fits `Number`, or Error{kBadInput}: JSON's own conversion takes fractions and
// lets what is too large wrap.
template <typename Number>
Number WholeNumber(const nlohmann::ordered_json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<Number>(json.get<uint64_t>())
                        : json.is_number_integer() && std::in_range<Number>(json.get<int64_t>());
  if (!fits) {
    Fail(ErrorKind::kBadInput, "expected a whole number, found {}", ShownText(json.dump()));
  }
  return json.get<Number>();
}

template <typename Number>
std::vector<Number> WholeNumbers(const nlohmann::ordered_json& json) {
  if (!json.is_array()) {
    Fail(ErrorKind::kBadInput, "expected a list of whole numbers, found {}",
         ShownText(json.dump()));
  }
  std::vector<Number> numbers;
  for (const nlohmann::ordered_json& item : json) numbers.push_back(WholeNumber<Number>(item));
  return numbers;
}

}  // namespace residua
