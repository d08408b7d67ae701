#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "residua/base/error.h"
#include "residua/data/data_source.h"
#include "tests/fixtures/folder_test.h"

namespace residua {

// The attributes that tests of data sources read, and what they read.
using Codes = std::vector<int>;

inline Attribute Made(std::string name, int64_t size, Encoding encoding) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.size = size;
  attribute.encoding = std::move(encoding);
  return attribute;
}

inline Attribute Integers(std::string name, int64_t first, int64_t last, OutsidePolicy outside = {},
                          bool null_cell = false) {
  return Made(std::move(name), last - first + (null_cell ? 2 : 1),
              {IntegerEncoding{first, last}, null_cell, outside});
}

inline Attribute Cuts(std::string name, std::vector<double> cuts, OutsidePolicy outside = {},
                      bool null_cell = false) {
  const auto size = static_cast<int64_t>(cuts.size()) + (null_cell ? 2 : 1);
  return Made(std::move(name), size, {CutEncoding{std::move(cuts)}, null_cell, outside});
}

inline Attribute Values(std::string name, std::vector<std::string> values,
                        OutsidePolicy outside = {}, bool null_cell = false) {
  const auto size = static_cast<int64_t>(values.size()) + (null_cell ? 1 : 0);
  return Made(std::move(name), size, {ValueEncoding{std::move(values)}, null_cell, outside});
}

inline Attribute Bare(std::string name, int64_t size, OutsidePolicy outside = {},
                      bool null_cell = false) {
  return Made(std::move(name), size, {std::monostate{}, null_cell, outside});
}

inline Attribute Dates(std::string name, std::string_view first, std::string_view last,
                       DateStep every, OutsidePolicy outside = {}, bool null_cell = false) {
  const Encoding encoding{DateEncoding{*ParseDay(first), *ParseDay(last), every}, null_cell,
                          outside};
  return Made(std::move(name), NumCells(encoding).value(), encoding);
}

inline Attribute Part(std::string name, DatePart part, OutsidePolicy outside = {},
                      bool null_cell = false) {
  const Encoding encoding{PartEncoding{part}, null_cell, outside};
  return Made(std::move(name), NumCells(encoding).value(), encoding);
}

inline Attribute OfColumn(Attribute attribute, std::string column) {
  attribute.column = std::move(column);
  return attribute;
}

inline Codes CodesOf(const EncodedTable& table, int column) {
  return std::visit([](const auto& codes) { return Codes(codes.begin(), codes.end()); },
                    table.column(column));
}

// Sources of one attribute, in a folder of the test's own.
class SourceTest : public FolderTest {
 protected:
  static Codes ReadOne(const DataSource& source, const Attribute& attribute) {
    return CodesOf(ReadEncodedTable(source, Domain({attribute})).table, 0);
  }

  static std::string MessageOf(const DataSource& source, const Attribute& attribute) {
    try {
      ReadEncodedTable(source, Domain({attribute}));
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    return "";
  }
};

inline constexpr OutsidePolicy kError = OutsidePolicy::kError;
inline constexpr OutsidePolicy kClamp = OutsidePolicy::kClamp;
inline constexpr OutsidePolicy kDrop = OutsidePolicy::kDrop;
inline constexpr OutsidePolicy kNull = OutsidePolicy::kNull;
inline constexpr OutsidePolicy kOther = OutsidePolicy::kOther;

}  // namespace residua
