#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "residua/base/enum_texts.h"
#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/text/json_text.h"

namespace residua {

// The value that is written as `json`.
template <typename Enum, size_t size>
Enum ValueFromJson(const EnumTexts<Enum, size>& texts, const Json& json) {
  const auto text = json.get<std::string>();
  if (const auto value = ValueOf(texts, text)) return *value;
  Fail(ErrorKind::kBadInput, "'{}' is not known; it must be {}", text, Choices(texts));
}

// One list per row.
Json MatrixToJson(int64_t num_rows, int64_t num_columns, const auto& entries) {
  Json rows = Json::array();
  for (int64_t row = 0; row < num_rows; ++row) {
    const auto begin = entries.begin() + row * num_columns;
    rows.push_back(std::vector(begin, begin + num_columns));
  }
  return rows;
}

// The rows one after another; all must have `num_columns` entries.
template <typename Entry>
std::vector<Entry> MatrixFromJson(const Json& json, int64_t num_columns, std::string_view what) {
  std::vector<Entry> entries;
  for (const Json& row : json) {
    if (static_cast<int64_t>(row.size()) != num_columns) {
      Fail(ErrorKind::kBadInput, "{} has a row of {} entries; it needs {}", what, row.size(),
           num_columns);
    }
    for (const Json& entry : row) {
      if constexpr (std::is_integral_v<Entry>) {
        entries.push_back(WholeNumber<Entry>(entry));
      } else {
        if (!entry.is_number()) {
          Fail(ErrorKind::kBadInput, "{} has the entry {}, which is no number", what,
               ShownText(JsonLine(entry)));
        }
        entries.push_back(entry.get<Entry>());
      }
    }
  }
  return entries;
}

}  // namespace residua
