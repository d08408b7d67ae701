#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"

namespace residua {

// Keys stay in the order they came in.
using Json = nlohmann::ordered_json;

// JSON's parser and printer, compiled once: each takes a second or two.
Json ParseJson(std::string_view text);            // throws Json::exception
Json ParsedOrDiscarded(std::string_view text);    // is_discarded() if it is no JSON
std::string JsonLine(const Json& json);           // throws Json::exception if a text is not UTF-8
std::string ForgivingJsonLine(const Json& json);  // puts U+FFFD for what is not
std::string IndentedJson(const Json& json);       // by two spaces

// A whole number that fits `Number`, or Error{kBadInput}: JSON's own conversion takes fractions and
// lets what is too large wrap.
template <typename Number>
Number WholeNumber(const Json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<Number>(json.get<uint64_t>())
                        : json.is_number_integer() && std::in_range<Number>(json.get<int64_t>());
  if (!fits) {
    Fail(ErrorKind::kBadInput, "expected a whole number, found {}", ShownText(JsonLine(json)));
  }
  return json.get<Number>();
}

template <typename Number>
std::vector<Number> WholeNumbers(const Json& json) {
  if (!json.is_array()) {
    Fail(ErrorKind::kBadInput, "expected a list of whole numbers, found {}",
         ShownText(JsonLine(json)));
  }
  std::vector<Number> numbers;
  for (const Json& item : json) numbers.push_back(WholeNumber<Number>(item));
  return numbers;
}

}  // namespace residua
