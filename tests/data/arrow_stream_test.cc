#include "residua/data/arrow_stream.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "residua/data/data_source.h"
#include "residua/noise/secure_bits.h"
#include "tests/data/arrow_rows.h"

namespace residua {
namespace {

Domain TwoAttributes() {
  return Domain({{"a", 4, QueryKind::kIdentity, {}}, {"b", 4, QueryKind::kIdentity, {}}});
}

std::vector<int> CodesOf(const EncodedTable& table, int column) {
  return std::visit([](const auto& codes) { return std::vector<int>(codes.begin(), codes.end()); },
                    table.column(column));
}

DataSource SourceOf(ArrowRows* rows) {
  DataSource source;
  source.arrow = rows->stream();
  return source;
}

TEST(ArrowStream, ColumnsAreFoundByName) {
  const std::vector<ArrowRows::Column> a_b_and_more = {
      {"z", {9, 9, 9}}, {"b", {1, 2, 3}}, {"y", {8, 8, 8}}, {"a", {0, 1, 0}}};
  for (const std::vector<size_t>& order :
       std::vector<std::vector<size_t>>{{1, 3}, {3, 1}, {0, 1, 2, 3}, {3, 2, 1, 0}}) {
    std::vector<ArrowRows::Column> columns;
    for (const size_t k : order) columns.push_back(a_b_and_more[k]);
    ArrowRows rows(columns);
    const ReadResult read = ReadEncodedTable(SourceOf(&rows), TwoAttributes());
    EXPECT_EQ(CodesOf(read.table, 0), (std::vector<int>{0, 1, 0}));
    EXPECT_EQ(CodesOf(read.table, 1), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(rows.num_held(), 0);
  }
}

TEST(ArrowStream, AttributesMayShareAColumn) {
  ArrowRows rows({{"z", {9, 9, 9}}, {"b", {1, 2, 3}}, {"a", {0, 1, 0}}});
  std::vector<Attribute> attributes = TwoAttributes().attributes();
  attributes.insert(attributes.begin(), attributes[1]);
  attributes[0].name = "also b";
  attributes[0].column = "b";
  const ReadResult read = ReadEncodedTable(SourceOf(&rows), Domain(attributes));
  EXPECT_EQ(CodesOf(read.table, 0), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(CodesOf(read.table, 1), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(CodesOf(read.table, 2), (std::vector<int>{1, 2, 3}));
}

TEST(ArrowStream, IdentifierMayStandAnywhere) {
  Protection protection;
  protection.identifier = "who";
  protection.max_rows = 1;
  ArrowRows rows({{"who", {7, 7, 8}}, {"b", {1, 1, 3}}, {"a", {0, 0, 2}}});
  const ReadResult read =
      ReadEncodedTable(SourceOf(&rows), TwoAttributes(), protection, ThreadSecureBits());
  EXPECT_EQ(CodesOf(read.table, 0), (std::vector<int>{0, 2}));
  EXPECT_EQ(CodesOf(read.table, 1), (std::vector<int>{1, 3}));
  protection.identifier = "b";
  ArrowRows same({{"z", {9, 9, 9}}, {"b", {1, 1, 3}}, {"a", {0, 0, 2}}});
  const ReadResult of_attribute =
      ReadEncodedTable(SourceOf(&same), TwoAttributes(), protection, ThreadSecureBits());
  EXPECT_EQ(CodesOf(of_attribute.table, 1), (std::vector<int>{1, 3}));
}

TEST(ArrowStream, FaultsAreNamed) {
  const auto message = [](std::vector<ArrowRows::Column> columns) -> std::string {
    ArrowRows rows(std::move(columns));
    try {
      ReadEncodedTable(SourceOf(&rows), TwoAttributes());
    } catch (const Error& error) {
      EXPECT_EQ(rows.num_held(), 0);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({{"a", {1}}, {"B", {1}}}),
            "the data: no column 'b', but a column 'B'; spell attributes.b like the column");
  EXPECT_EQ(message({{"a", {1}}, {"b", {1}}, {"b", {1}}}),
            "the data: column 'b' is there 2 times; rename all but one");
  EXPECT_EQ(message({{"a", {0, 4}}, {"b", {0, 0}}}),
            "the data: column 'a' has the value 4 (row 2), outside 0..3; set outside = \"clamp\", "
            "\"drop\" or \"null\" (with null = true) for attributes.a, or give it more cells");
}

// Records without fields, and floats of 16 bits.
TEST(ArrowStream, ColumnsThatCannotBeReadAreNamed) {
  for (const char* format : {"+s", "e"}) {
    ArrowRows rows({{"a", {1}}, {"b", {1}}}, format);
    try {
      ReadEncodedTable(SourceOf(&rows), TwoAttributes());
      FAIL() << format;
    } catch (const Error& error) {
      EXPECT_EQ(rows.num_held(), 0);
      EXPECT_STREQ(error.what(),
                   "the data: column 'b' has an Arrow type that cannot be read, such as records "
                   "without fields or 16-bit floats; convert it to text or to numbers of another "
                   "type");
    }
  }
}

TEST(ArrowStream, NoRows) {
  ArrowRows rows({{"b", {}}, {"a", {}}});
  EXPECT_EQ(ReadEncodedTable(SourceOf(&rows), TwoAttributes()).table.num_rows(), 0);
}

}  // namespace
}  // namespace residua
