#include "residua/data/data_source.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/data/csv_header.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

using Codes = std::vector<int>;

Attribute Made(std::string name, int64_t size, Encoding encoding) {
  Attribute attribute;
  attribute.name = std::move(name);
  attribute.size = size;
  attribute.encoding = std::move(encoding);
  return attribute;
}

Attribute Integers(std::string name, int64_t first, int64_t last, OutsidePolicy outside = {},
                   bool null_cell = false) {
  return Made(std::move(name), last - first + (null_cell ? 2 : 1),
              {IntegerEncoding{first, last}, null_cell, outside});
}

Attribute Cuts(std::string name, std::vector<double> cuts, OutsidePolicy outside = {},
               bool null_cell = false) {
  const auto size = static_cast<int64_t>(cuts.size()) + (null_cell ? 2 : 1);
  return Made(std::move(name), size, {CutEncoding{std::move(cuts)}, null_cell, outside});
}

Attribute Values(std::string name, std::vector<std::string> values, OutsidePolicy outside = {},
                 bool null_cell = false) {
  const auto size = static_cast<int64_t>(values.size()) + (null_cell ? 1 : 0);
  return Made(std::move(name), size, {ValueEncoding{std::move(values)}, null_cell, outside});
}

Attribute Bare(std::string name, int64_t size, OutsidePolicy outside = {}, bool null_cell = false) {
  return Made(std::move(name), size, {std::monostate{}, null_cell, outside});
}

Attribute Dates(std::string name, std::string_view first, std::string_view last, DateStep every,
                OutsidePolicy outside = {}, bool null_cell = false) {
  const Encoding encoding{DateEncoding{*ParseDay(first), *ParseDay(last), every}, null_cell,
                          outside};
  return Made(std::move(name), NumCells(encoding).value(), encoding);
}

Attribute Part(std::string name, DatePart part, OutsidePolicy outside = {},
               bool null_cell = false) {
  const Encoding encoding{PartEncoding{part}, null_cell, outside};
  return Made(std::move(name), NumCells(encoding).value(), encoding);
}

Attribute OfColumn(Attribute attribute, std::string column) {
  attribute.column = std::move(column);
  return attribute;
}

Codes CodesOf(const EncodedTable& table, int column) {
  return std::visit([](const auto& codes) { return Codes(codes.begin(), codes.end()); },
                    table.column(column));
}

class DataSourceTest : public FolderTest {
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

constexpr OutsidePolicy kError = OutsidePolicy::kError;
constexpr OutsidePolicy kClamp = OutsidePolicy::kClamp;
constexpr OutsidePolicy kDrop = OutsidePolicy::kDrop;
constexpr OutsidePolicy kNull = OutsidePolicy::kNull;
constexpr OutsidePolicy kOther = OutsidePolicy::kOther;

TEST_F(DataSourceTest, ReadsEveryKindOfAttributeFromCsv) {
  Write("people.csv",
        "id,age,income,sex,code\n1,18, 10000,female,2\n2,20,10000.5,male,0\n3,19,1e9,,1\n");
  const Domain domain({Integers("age", 18, 20), Cuts("income", {10000, 25000}),
                       Values("sex", {"male", "female"}, kError, true), Bare("code", 3)});
  const ReadResult result = ReadEncodedTable({"people.csv", "", ""}, domain);
  EXPECT_EQ(CodesOf(result.table, 0), (Codes{0, 2, 1}));
  EXPECT_EQ(CodesOf(result.table, 1), (Codes{0, 1, 2}));
  EXPECT_EQ(CodesOf(result.table, 2), (Codes{1, 0, 2}));
  EXPECT_EQ(CodesOf(result.table, 3), (Codes{2, 0, 1}));
  EXPECT_EQ(result.report.num_rows_read, 3);
  EXPECT_EQ(result.report.num_rows_dropped, 0);
}

TEST_F(DataSourceTest, OutsideIntegersFollowThePolicy) {
  Write("people.csv", "age\n5\n130\n-1\n\nx\n");
  const DataSource source{"people.csv", "", ""};
  EXPECT_EQ(
      MessageOf(source, Integers("age", 0, 99)),
      "people.csv: column 'age' has the value 130 (row 2), outside 0..99; set outside = "
      "\"clamp\", \"drop\" or \"null\" (with null = true) for attributes.age, or widen integers");
  EXPECT_EQ(
      MessageOf(source, Integers("age", -1, 130)),
      "people.csv: column 'age' has no value in row 4; set null = true or outside = \"drop\" for "
      "attributes.age");
  EXPECT_EQ(MessageOf(source, Integers("age", 0, 99, kClamp)),
            "people.csv: column 'age' has no value in row 4; set null = true or outside = \"drop\" "
            "for attributes.age");
  EXPECT_EQ(ReadOne(source, Integers("age", 0, 99, kDrop)), (Codes{5}));
  EXPECT_EQ(ReadOne(source, Integers("age", 0, 99, kDrop, true)), (Codes{5, 100}));
  EXPECT_EQ(ReadOne(source, Integers("age", 0, 99, kNull, true)), (Codes{5, 100, 100, 100, 100}));

  Write("ends.csv", "age\n130\n-1\n99999999999999999999\n-1e300\n7\n");
  const ReadResult clamped =
      ReadEncodedTable({"ends.csv", "", ""}, Domain({Integers("age", 5, 9, kClamp)}));
  EXPECT_EQ(CodesOf(clamped.table, 0), (Codes{4, 0, 4, 0, 2}));
  EXPECT_EQ(clamped.report.attributes[0].num_clamped, 4);
}

// A policy that promises never to stop does not stop, whatever a row contains: in text, and in each
// type.
TEST_F(DataSourceTest, TotalPoliciesNeverStop) {
  const std::vector<std::string> odd = {"x",
                                        "nan",
                                        "-nan",
                                        "inf",
                                        "-inf",
                                        "1.5",
                                        "-0.5",
                                        "9.5",
                                        "1e999",
                                        "-1e999",
                                        "true",
                                        "0x10",
                                        "\"1,5\"",
                                        "12 3",
                                        "\"\"",
                                        "\"two\nlines\"",
                                        "2024-02-29",
                                        "99999999999999999999",
                                        "-99999999999999999999.5",
                                        "\xc3\xbc",
                                        "1e-999",
                                        "+7",
                                        " 8 "};
  std::string csv = "v\n3\n\n";
  for (const std::string& value : odd) csv += value + "\n";
  Write("odd.csv", csv);
  Sql("odd.duckdb",
      {"CREATE TABLE doubles AS SELECT * FROM (VALUES (3.0::DOUBLE), (1.5), ('nan'), ('inf'), "
       "('-inf'), (-0.5), (1e300), (NULL)) t(v)",
       "CREATE TABLE wide AS SELECT * FROM (VALUES (3::HUGEINT), "
       "(-170141183460469231731687303715884105727), (NULL)) t(v)",
       "CREATE TABLE longer AS SELECT ('1' || repeat('0', 400))::BIGNUM AS v",
       "CREATE TABLE decimals AS SELECT * FROM (VALUES (3.00::DECIMAL(20,2)), (1.50), (-0.01), "
       "(123456789012345678.99), (NULL)) t(v)",
       "CREATE TABLE flags AS SELECT * FROM (VALUES (true), (false), (NULL)) t(v)",
       "CREATE TABLE nothing AS SELECT NULL AS v"});
  std::vector<DataSource> sources = {{"odd.csv", "", ""}};
  for (const std::string table : {"doubles", "wide", "longer", "decimals", "flags", "nothing"}) {
    sources.push_back({"", "odd.duckdb", "SELECT v FROM " + table});
  }
  const std::vector<Attribute> total = {
      Integers("v", 0, 9, kDrop),
      Integers("v", 0, 9, kDrop, true),
      Integers("v", 0, 9, kNull, true),
      Integers("v", 0, 9, kClamp, true),
      Cuts("v", {1, 5}, kDrop),
      Cuts("v", {1, 5}, kDrop, true),
      Cuts("v", {1, 5}, kNull, true),
      Values("v", {"3", "x"}, kDrop),
      Values("v", {"3"}, kDrop, true),
      Values("v", {"3"}, kNull, true),
      Made("v", 3, {ValueEncoding{{"3"}}, true, kOther}),
      Bare("v", 10, kDrop),
      Bare("v", 10, kNull, true),
  };
  for (const Attribute& attribute : total) {
    EXPECT_FALSE(StoppingValuesOf(attribute.encoding).any());
    for (const DataSource& source : sources) {
      EXPECT_EQ(MessageOf(source, attribute), "") << source.source << source.query;
      const ReadReport report = SurveyTable(source, Domain({attribute}), {});
      EXPECT_FALSE(report.attributes[0].first_error);
      if (attribute.encoding.outside != kDrop) {
        EXPECT_EQ(report.num_rows_dropped, 0);
      }
    }
  }
}

TEST_F(DataSourceTest, ClampingCountsWhatIsNotANumberAsMissing) {
  Write("t.csv", "v\n3\n3.9\n-0.5\n9.5\n12\nx\nnan\n\n-inf\n");
  const ReadResult result =
      ReadEncodedTable({"t.csv", "", ""}, Domain({Integers("v", 0, 9, kClamp, true)}));
  EXPECT_EQ(CodesOf(result.table, 0), (Codes{3, 3, 0, 9, 9, 10, 10, 10, 0}));
  EXPECT_EQ(result.report.attributes[0].num_clamped, 5);
  EXPECT_EQ(result.report.attributes[0].num_nulled, 1);
  EXPECT_EQ(result.report.attributes[0].num_missing, 2) << "NaN is missing";
}

// What StoppingValuesOf says is what reading does.
TEST_F(DataSourceTest, KnowsWhichValuesStopIt) {
  Write("outside.csv", "v\n77\n");
  Write("between.csv", "v\n1.5\n");
  Write("text.csv", "v\nx\n");
  Write("missing.csv", "v\n\n");
  for (const OutsidePolicy policy : {kError, kClamp, kDrop, kNull}) {
    for (const bool null_cell : {false, true}) {
      if (policy == kNull && !null_cell) continue;
      std::vector<Attribute> attributes = {Integers("v", 0, 9, policy, null_cell)};
      if (policy != kClamp) {
        attributes.push_back(Cuts("v", {1, 5}, policy, null_cell));
        attributes.push_back(Values("v", {"a", "b"}, policy, null_cell));
      }
      for (const Attribute& attribute : attributes) {
        const StoppingValues stopping = StoppingValuesOf(attribute.encoding);
        const bool is_listed = std::holds_alternative<ValueEncoding>(attribute.encoding.cells);
        const auto stops = [&](const std::string& file) {
          return !MessageOf({file, "", ""}, attribute).empty();
        };
        EXPECT_EQ(stops("outside.csv"), stopping.outside);
        EXPECT_EQ(stops("between.csv"), stopping.outside);
        EXPECT_EQ(stops("text.csv"), is_listed ? stopping.outside : stopping.unreadable);
        EXPECT_EQ(stops("missing.csv"), stopping.missing);
      }
    }
  }
}

TEST_F(DataSourceTest, ReportsWhatItDid) {
  Write("t.csv", "a,b\n1,x\n9,x\n9,y\n2,y\n,z\n");
  const Domain domain({Integers("a", 0, 3, kDrop), Values("b", {"x"}, kNull, true)});
  const ReadResult result = ReadEncodedTable({"t.csv", "", ""}, domain);
  EXPECT_EQ(CodesOf(result.table, 0), (Codes{1, 2}));
  EXPECT_EQ(CodesOf(result.table, 1), (Codes{0, 1}));
  EXPECT_EQ(result.report.num_rows_read, 5);
  EXPECT_EQ(result.report.num_rows_dropped, 3);
  EXPECT_EQ(result.report.attributes[0].num_dropped, 3);
  EXPECT_EQ(result.report.attributes[1].num_nulled, 3);
}

TEST_F(DataSourceTest, NamesValuesItDoesNotKnow) {
  Write("t.csv", "a\nx\n\"two\nlines\"\n");
  const DataSource source{"t.csv", "", ""};
  EXPECT_EQ(
      MessageOf(source, Values("a", {"x", "y"})),
      "t.csv: column 'a' has the value 'two\\x0alines' (row 2), not among its values; set outside "
      "= \"other\", \"drop\" or \"null\" (with null = true) for attributes.a, or add it to values");
  EXPECT_EQ(MessageOf(source, Cuts("a", {1})),
            "t.csv: column 'a' has the value 'x' (row 1), not a number; set outside = \"drop\" or "
            "\"null\" (with null = true) for attributes.a, or give it values instead of cuts");
  EXPECT_EQ(
      MessageOf(source, Bare("a", 2)),
      "t.csv: column 'a' has the value 'x' (row 1), not an integer; set outside = \"drop\" or "
      "\"null\" (with null = true) for attributes.a, or give it cuts or values instead of "
      "integers");
}

TEST_F(DataSourceTest, TakesIntegralNumbersForIntegersAndNoOthers) {
  Sql("", {"COPY (SELECT * FROM (VALUES (3.0::DOUBLE), ('-0.0'::DOUBLE), ('inf'::DOUBLE), "
           "('-inf'::DOUBLE))"
           " t(v)) TO 'd.parquet'",
           "COPY (SELECT 3.5::FLOAT AS v) TO 'half.parquet'",
           "COPY (SELECT 'nan'::DOUBLE AS v) TO 'nan.parquet'"});
  EXPECT_EQ(ReadOne({"d.parquet", "", ""}, Integers("v", 0, 5, kClamp)), (Codes{3, 0, 5, 0}));
  EXPECT_EQ(ReadOne({"d.parquet", "", ""}, Integers("v", 0, 5, kDrop)), (Codes{3, 0}));
  EXPECT_EQ(
      MessageOf({"d.parquet", "", ""}, Integers("v", 0, 5)),
      "d.parquet: column 'v' has the value inf (row 3), outside 0..5; set outside = \"clamp\", "
      "\"drop\" or \"null\" (with null = true) for attributes.v, or widen integers");
  EXPECT_EQ(MessageOf({"half.parquet", "", ""}, Integers("v", 0, 5)),
            "half.parquet: column 'v' has the value 3.5 (row 1), not an integer; set outside = "
            "\"clamp\", \"drop\" or \"null\" (with null = true) for attributes.v, or give it cuts "
            "or values instead of integers");
  EXPECT_EQ(MessageOf({"nan.parquet", "", ""}, Integers("v", 0, 5, kClamp)),
            "nan.parquet: column 'v' has no value in row 1; set null = true or outside = \"drop\" "
            "for attributes.v");
  EXPECT_EQ(ReadOne({"nan.parquet", "", ""}, Integers("v", 0, 5, kNull, true)), (Codes{6}));
}

TEST_F(DataSourceTest, CutsAreClosedAbove) {
  Sql("", {"COPY (SELECT * FROM (VALUES (1.0::DOUBLE), (1.0000000000000002), (2.0), (2.5), "
           "('inf'::DOUBLE), ('-inf'::DOUBLE), (NULL)) t(v)) TO 'd.parquet'",
           "COPY (SELECT * FROM (VALUES (1), (2), (3)) t(v)) TO 'i.parquet'",
           "COPY (SELECT 'nan'::DOUBLE AS v) TO 'nan.parquet'"});
  EXPECT_EQ(ReadOne({"d.parquet", "", ""}, Cuts("v", {1, 2}, kError, true)),
            (Codes{0, 1, 1, 2, 2, 0, 3}));
  EXPECT_EQ(ReadOne({"i.parquet", "", ""}, Cuts("v", {1, 2})), (Codes{0, 1, 2}));
  EXPECT_EQ(
      MessageOf({"nan.parquet", "", ""}, Cuts("v", {1, 2})),
      "nan.parquet: column 'v' has no value in row 1; set null = true or outside = \"drop\" for "
      "attributes.v");
  EXPECT_EQ(ReadOne({"nan.parquet", "", ""}, Cuts("v", {1, 2}, kDrop)), (Codes{}));
}

TEST_F(DataSourceTest, ReadsWideAndOddTypes) {
  Sql("x.duckdb",
      {"CREATE TABLE t AS SELECT 170141183460469231731687303715884105727::HUGEINT AS big, "
       "7::UBIGINT AS u, "
       "3.00::DECIMAL(10,2) AS dec, true AS flag, DATE '2024-02-29' AS day, 12 AS n, "
       "'b'::ENUM('a','b') AS e, "
       "[1,2] AS list, NULL AS nothing, '6b7ec5e4-0000-4000-8000-000000000001'::UUID AS id"});
  const DataSource source{"", "x.duckdb", "SELECT * FROM t -- the lot;"};
  EXPECT_EQ(ReadOne(source, Integers("big", 0, 9, kClamp)), (Codes{9}));
  EXPECT_EQ(MessageOf(source, Integers("big", 0, 9)),
            "x.duckdb: column 'big' has the value 170141183460469231731687303715884105727 (row 1), "
            "outside "
            "0..9; set outside = \"clamp\", \"drop\" or \"null\" (with null = true) for "
            "attributes.big, or widen integers");
  EXPECT_EQ(ReadOne(source, Cuts("big", {0})), (Codes{1}));
  EXPECT_EQ(ReadOne(source, Integers("u", 0, 9)), (Codes{7}));
  EXPECT_EQ(ReadOne(source, Integers("dec", 0, 9)), (Codes{3}));
  EXPECT_EQ(ReadOne(source, Values("dec", {"3", "3.00"})), (Codes{1}));
  EXPECT_EQ(ReadOne(source, Values("flag", {"false", "true"})), (Codes{1}));
  EXPECT_EQ(ReadOne(source, Bare("flag", 2)), (Codes{1}));
  EXPECT_EQ(ReadOne(source, Values("n", {"11", "12"})), (Codes{1}));
  EXPECT_EQ(ReadOne(source, Values("day", {"2024-02-28", "2024-02-29"})), (Codes{1}));
  EXPECT_EQ(ReadOne(source, Values("e", {"a", "b"})), (Codes{1}));
  EXPECT_EQ(ReadOne(source, Integers("nothing", 0, 1, kError, true)), (Codes{2}));
  EXPECT_EQ(MessageOf(source, Integers("day", 0, 9)),
            "x.duckdb: column 'day' is of type DATE, which cannot be read as an integer; give "
            "attributes.day values, or convert it in a query");
  EXPECT_EQ(
      MessageOf(source, Cuts("id", {1})),
      "x.duckdb: column 'id' is of type UUID, which cannot be read as a number; give attributes.id "
      "values, or convert it in a query");
  EXPECT_EQ(MessageOf(source, Values("list", {"a", "b"})),
            "x.duckdb: column 'list' is of type INTEGER[], which cannot be read as values; take "
            "one value "
            "of it in a query");
}

TEST_F(DataSourceTest, ReadsJson) {
  Write("a.json",
        "[{\"n\": 1, \"s\": \"x\"}, {\"n\": 2.0, \"s\": true}, {\"s\": null, \"n\": \"3\"}]");
  const Domain domain({Integers("n", 1, 3), Values("s", {"true", "x"}, kError, true)});
  const ReadResult result = ReadEncodedTable({"a.json", "", ""}, domain);
  EXPECT_EQ(CodesOf(result.table, 0), (Codes{0, 1, 2}));
  EXPECT_EQ(CodesOf(result.table, 1), (Codes{1, 0, 2}));
  EXPECT_EQ(MessageOf({"a.json", "", ""}, Integers("m", 1, 3)),
            "a.json: no column 'm'; it has n, s: rename or remove attributes.m");
  // A name that only the last of many rows has.
  std::string lines;
  for (int k = 0; k < 30'000; ++k) lines += "{\"a\": 1}\n";
  Write("late.jsonl", lines + "{\"a\": 1, \"b\": 2}\n");
  EXPECT_EQ(ReadOne({"late.jsonl", "", ""}, Integers("b", 1, 2, kDrop)), (Codes{1}));
}

TEST_F(DataSourceTest, StreamsManyChunksInOrder) {
  Sql("", {"COPY (SELECT i % 300 AS a, (i % 7)::VARCHAR AS b FROM range(100000) t(i)) TO 'big.csv'",
           "COPY (SELECT i % 300 AS a, (i % 7)::VARCHAR AS b FROM range(100000) t(i)) TO "
           "'big.parquet'"});
  const Domain domain({Integers("a", 0, 299), Values("b", {"0", "1", "2", "3", "4", "5", "6"})});
  for (const std::string name : {"big.csv", "big.parquet"}) {
    const ReadResult result = ReadEncodedTable({name, "", ""}, domain);
    ASSERT_EQ(result.table.num_rows(), 100'000);
    const Codes a = CodesOf(result.table, 0);
    const Codes b = CodesOf(result.table, 1);
    for (int k = 0; k < 100'000; ++k) {
      ASSERT_EQ(a[static_cast<size_t>(k)], k % 300);
      ASSERT_EQ(b[static_cast<size_t>(k)], k % 7);
    }
  }
  Sql("", {"COPY (SELECT CASE WHEN i = 98765 THEN 77 ELSE 1 END AS a FROM range(100000) t(i)) TO "
           "'late.csv'"});
  EXPECT_EQ(
      MessageOf({"late.csv", "", ""}, Integers("a", 0, 9)),
      "late.csv: column 'a' has the value 77 (row 98766), outside 0..9; set outside = \"clamp\", "
      "\"drop\" or \"null\" (with null = true) for attributes.a, or widen integers");
}

TEST_F(DataSourceTest, LeavesOutRowsForAnyOfTheirColumns) {
  Sql("", {"COPY (SELECT CASE WHEN i % 5000 = 7 THEN 77 ELSE i % 10 END AS a, CASE WHEN i % 7000 = "
           "9 THEN NULL ELSE (i % 3)::VARCHAR END AS b, i % 300 AS c FROM range(30000) t(i)) TO "
           "'some.parquet'"});
  const Domain domain(
      {Integers("a", 0, 9, kDrop), Values("b", {"0", "1", "2"}, kDrop), Integers("c", 0, 299)});
  const ReadResult result = ReadEncodedTable({"some.parquet", "", ""}, domain);
  std::vector<Codes> expected(3);
  for (int i = 0; i < 30'000; ++i) {
    if (i % 5000 == 7 || i % 7000 == 9) continue;
    expected[0].push_back(i % 10);
    expected[1].push_back(i % 3);
    expected[2].push_back(i % 300);
  }
  for (int k = 0; k < 3; ++k) EXPECT_EQ(CodesOf(result.table, k), expected[static_cast<size_t>(k)]);
  EXPECT_EQ(result.report.num_rows_read, 30'000);
  EXPECT_EQ(result.report.num_rows_dropped, 11);
  EXPECT_EQ(result.report.attributes[0].num_dropped, 6);
  EXPECT_EQ(result.report.attributes[1].num_dropped, 5);
}

// Columns are encoded side by side, and what is said must not depend on which is done first.
TEST_F(DataSourceTest, NamesTheFirstColumnThatIsWrong) {
  Write("t.csv", "a,b,c,d\n1,1,1,1\n1,1,1,9\n1,1,9,1\n1,9,1,1\n");
  const Domain domain(
      {Integers("a", 0, 3), Integers("b", 0, 3), Integers("c", 0, 3), Bare("d", 4)});
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      ReadEncodedTable({"t.csv", "", ""}, domain);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_TRUE(
          std::string(error.what()).starts_with("t.csv: column 'b' has the value 9 (row 4)"))
          << error.what();
    }
  }
}

// DuckDB hangs or crashes when a stream is closed before its end, though not every time.
TEST_F(DataSourceTest, StopsInTheMiddleOfAStream) {
  std::string rows = "a,b\n";
  for (int k = 0; k < 200'000; ++k) rows += "1,2\n";
  Write("late.csv", rows + "3\n");
  for (int repeat = 0; repeat < 10; ++repeat) {
    EXPECT_NE(MessageOf({"late.csv", "", ""}, Integers("b", 7, 9)), "");
    EXPECT_EQ(MessageOf({"late.csv", "", ""}, Integers("b", 0, 9)),
              "late.csv: CSV Error on Line: 200002: Expected Number of Columns: 2 Found: 1; give "
              "every line as many "
              "fields as the first, which names the columns");
  }
}

TEST_F(DataSourceTest, SurvivesHostileNames) {
  const std::string name = "q'u\"o[1]*\xc3\xbc; DROP.csv";
  Write(name, "\"we\"\"ird' name\",b\n1,2\n");
  EXPECT_EQ(ReadOne({name, "", ""}, Integers("we\"ird' name", 0, 3)), (Codes{1}));
  EXPECT_EQ(MessageOf({name, "", ""}, Integers("we\"ird' name", 2, 3)),
            name +
                ": column 'we\"ird' name' has the value 1 (row 1), outside 2..3; set outside = "
                "\"clamp\", "
                "\"drop\" or \"null\" (with null = true) for attributes.\"we\\\"ird' name\", or "
                "widen integers");
  Sql("", {"COPY (SELECT 1 AS \"a\"\"b'c\", 2 AS \"SELECT\") TO 'odd.parquet'",
           "COPY (SELECT 1 AS \"a\"\"b'c\") TO 'odd.json'"});
  EXPECT_EQ(ReadOne({"odd.parquet", "", ""}, Integers("a\"b'c", 0, 3)), (Codes{1}));
  EXPECT_EQ(ReadOne({"odd.parquet", "", ""}, Integers("SELECT", 0, 3)), (Codes{2}));
  EXPECT_EQ(ReadOne({"odd.json", "", ""}, Integers("a\"b'c", 0, 3)), (Codes{1}));
}

// One file is read, the one of that name, and only what is in it.
TEST_F(DataSourceTest, APathIsOneFile) {
  for (const std::string folder : {"a=7", "c0=7", "~", "file:", "d[1]", "d1"}) {
    std::filesystem::create_directory(folder);
  }
  Sql("", {"COPY (SELECT 1 AS a) TO 'a=7/t.parquet'", "COPY (SELECT 1 AS a) TO 'a=7/t.json'"});
  Write("c0=7/t.csv", "a\n1\n");
  const Attribute a = Integers("a", 0, 9);
  for (const std::string path : {"a=7/t.parquet", "a=7/t.json", "c0=7/t.csv"}) {
    EXPECT_EQ(ReadOne({path, "", ""}, a), (Codes{1})) << path;
  }
  // Patterns, each beside a file that it matches.
  const std::vector<std::string> patterns = {"x[1].csv",   "s*.csv",  "q?.csv",
                                             "d[1]/t.csv", "~/t.csv", "file:/t.csv"};
  for (const std::string& path : patterns) Write(path, "a\n3\n");
  for (const std::string other : {"x1.csv", "sz.csv", "qq.csv", "d1/t.csv"}) {
    Write(other, "a\n4\n");
  }
  for (const std::string& path : patterns) {
    EXPECT_EQ(ReadOne({path, "", ""}, a), (Codes{3})) << path;
    EXPECT_EQ(ReadOne({std::filesystem::absolute(path).string(), "", ""}, a), (Codes{3})) << path;
  }
  // Without its folder, sqlite:x is the SQLite file x.
  for (const std::string database : {"plain.duckdb", "./sqlite:x"}) {
    Sql(database, {"CREATE TABLE t AS SELECT 5 AS a"});
    EXPECT_EQ(ReadOne({"", database, "SELECT a FROM t"}, a), (Codes{5}));
  }
  std::filesystem::copy("plain.duckdb", ":memory:");
  EXPECT_EQ(ReadOne({"", ":memory:", "SELECT a FROM t"}, a), (Codes{5}));
}

// The names of all files that are made in a folder, however briefly they exist.
class FolderWatch {
 public:
  explicit FolderWatch(const std::string& folder) : handle_(inotify_init1(IN_NONBLOCK)) {
    EXPECT_GE(inotify_add_watch(handle_, folder.c_str(), IN_CREATE), 0);
  }
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;
  ~FolderWatch() { close(handle_); }

  std::vector<std::string> Made() const {
    std::vector<std::string> names;
    alignas(inotify_event) std::array<char, 4096> buffer;
    for (ssize_t size; (size = read(handle_, buffer.data(), buffer.size())) > 0;) {
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        names.emplace_back(event->name);
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    }
    return names;
  }

 private:
  int handle_;
};

// DuckDB would write what does not fit into memory beside the database, or into .tmp.
TEST_F(DataSourceTest, WritesNoTemporaryFiles) {
  Sql("big.duckdb",
      {"CREATE TABLE t AS SELECT (i * 7919) % 10 AS a, repeat(md5(i::VARCHAR), 8) AS s "
       "FROM range(300000) r(i)"});
  // DuckDB asks how much memory a batch system allows, and takes most of it.
  ASSERT_EQ(setenv("SLURM_MEM_PER_NODE", "50M", 1), 0);
  const FolderWatch watch(".");
  const Attribute a = Integers("a", 0, 9);
  const std::string message = MessageOf({"", "big.duckdb", "SELECT a, s FROM t ORDER BY s"},
                                        Values("s", {"x", "y"}, kDrop));
  EXPECT_NE(message.find("; no row is written to disk to save memory: sort, join and group "
                         "beforehand, in the database, or use a larger machine"),
            std::string::npos)
      << message;
  EXPECT_EQ(MessageOf({"", "big.duckdb", "SELECT a FROM t"}, a), "");
  unsetenv("SLURM_MEM_PER_NODE");
  EXPECT_EQ(watch.Made(), std::vector<std::string>{});
}

TEST_F(DataSourceTest, ReadsCsvDialectsByTheirHeader) {
  Write("semi.csv",
        "\xef\xbb\xbf"
        "a;b\r\n1;\"x;y\"\r\n2;\"z\"\r\n");
  EXPECT_EQ(ReadOne({"semi.csv", "", ""}, Integers("a", 0, 3)), (Codes{1, 2}));
  EXPECT_EQ(ReadOne({"semi.csv", "", ""}, Values("b", {"z", "x;y"})), (Codes{1, 0}));
  Write("t.tsv", "a\tb,c\td\n1\t2\t3\n");
  EXPECT_EQ(ReadOne({"t.tsv", "", ""}, Integers("b,c", 0, 3)), (Codes{2}));
  Write("one.csv", "a\n007\n7\n");
  EXPECT_EQ(ReadOne({"one.csv", "", ""}, Values("a", {"7", "007"})), (Codes{1, 0}));
  Write("header.csv", "a,b\n");
  EXPECT_EQ(ReadOne({"header.csv", "", ""}, Integers("a", 0, 3)), (Codes{}));
}

TEST_F(DataSourceTest, NamesFilesThatCannotBeRead) {
  const Attribute a = Integers("a", 0, 9);
  EXPECT_EQ(MessageOf({"none.csv", "", ""}, a), "none.csv: no such file; check the path");
  std::filesystem::create_directory("folder.csv");
  EXPECT_EQ(MessageOf({"folder.csv", "", ""}, a), "folder.csv: a directory; name one file in it");
  EXPECT_EQ(
      MessageOf({"https://example.org/a.csv", "", ""}, a),
      "https://example.org/a.csv: nothing is read over the network; download it and name the file");
  Write("a.xyz", "a\n1\n");
  EXPECT_EQ(MessageOf({"a.xyz", "", ""}, a),
            "a.xyz: files of this kind cannot be read; use .csv, .tsv, .parquet, .json, .jsonl or "
            ".ndjson");
  Write("a.duckdb", "a\n1\n");
  EXPECT_EQ(MessageOf({"a.duckdb", "", ""}, a),
            "a.duckdb: a database needs a query; in the spec, set database and query, not source");
  Write("empty.csv", "");
  EXPECT_EQ(MessageOf({"empty.csv", "", ""}, a),
            "empty.csv: the file is empty; its first line must name the columns");
  Write("short.csv", "a,b\n1,2\n3\n");
  EXPECT_EQ(MessageOf({"short.csv", "", ""}, a),
            "short.csv: CSV Error on Line: 3: Expected Number of Columns: 2 Found: 1; give every "
            "line as many "
            "fields as the first, which names the columns");
  Write("long.csv", "a,b\n1,2\n3,4,5\n");
  EXPECT_EQ(MessageOf({"long.csv", "", ""}, a),
            "long.csv: CSV Error on Line: 3: Expected Number of Columns: 2 Found: 3; give every "
            "line as many "
            "fields as the first, which names the columns");
  Write("open.csv", "a,b\n1,\"secret\n");
  EXPECT_EQ(MessageOf({"open.csv", "", ""}, a),
            "open.csv: CSV Error on Line: 2: Value with unterminated quote found.");
  Write("twice.csv", "a,a\n1,2\n");
  EXPECT_EQ(MessageOf({"twice.csv", "", ""}, a),
            "twice.csv: column 'a' is there 2 times; rename all but one");
  Write("case.csv", "A,b\n1,2\n");
  EXPECT_EQ(MessageOf({"case.csv", "", ""}, a),
            "case.csv: no column 'a', but a column 'A'; spell attributes.a like the column");
  Write("other.csv", "b,c\n1,2\n");
  EXPECT_EQ(MessageOf({"other.csv", "", ""}, a),
            "other.csv: no column 'a'; it has b, c: rename or remove attributes.a");
}

TEST_F(DataSourceTest, NamesGarbage) {
  std::string garbage;
  for (unsigned k = 0; k < 3000; ++k) garbage += static_cast<char>(k * 2654435761u >> 13);
  const Attribute a = Integers("a", 0, 9);
  for (const std::string name : {"g.csv", "g.parquet", "g.json", "g.csv.gz"}) {
    Write(name, garbage);
    EXPECT_TRUE(MessageOf({name, "", ""}, a).starts_with(name + ": "))
        << MessageOf({name, "", ""}, a);
  }
  Write("g.duckdb", garbage);
  EXPECT_TRUE(MessageOf({"", "g.duckdb", "SELECT 1 AS a"}, a).starts_with("g.duckdb: "));
  Write("cut.parquet", "PAR1");
  EXPECT_TRUE(MessageOf({"cut.parquet", "", ""}, a).starts_with("cut.parquet: "));
}

TEST_F(DataSourceTest, QueriesReadTheirDatabaseAndNothingElse) {
  Sql("x.duckdb", {"CREATE TABLE t AS SELECT i AS a FROM range(4) r(i)"});
  Write("other.csv", "a\n1\n");
  const Attribute a = Integers("a", 0, 9);
  EXPECT_EQ(ReadOne({"", "x.duckdb", "SELECT a FROM t WHERE a > 1 ORDER BY a;\n"}, a),
            (Codes{2, 3}));
  EXPECT_EQ(ReadOne({"", "x.duckdb", "WITH s AS (SELECT 5 AS a) SELECT * FROM s"}, a), (Codes{5}));
  EXPECT_EQ(MessageOf({"", "x.duckdb", "DROP TABLE t"}, a),
            "x.duckdb: the query must be a single SELECT");
  EXPECT_EQ(MessageOf({"", "x.duckdb", "SELECT a FROM t; SELECT a FROM t"}, a),
            "x.duckdb: the query must be a single SELECT");
  EXPECT_EQ(MessageOf({"", "x.duckdb", "SELECT a FROM read_csv('other.csv')"}, a),
            "x.duckdb: Cannot access file \"other.csv\" - file system operations are disabled by "
            "configuration");
  EXPECT_TRUE(MessageOf({"", "x.duckdb", "SELECT b FROM t"}, a)
                  .starts_with("x.duckdb: Referenced column \"b\""));
  EXPECT_TRUE(
      MessageOf({"", "x.duckdb", "SELEKT"}, a).starts_with("x.duckdb: the query cannot be read: "));
  EXPECT_EQ(MessageOf({"", "none.duckdb", "SELECT 1 AS a"}, a),
            "none.duckdb: no such file; check the path");
  EXPECT_FALSE(std::filesystem::exists("none.duckdb"));
  EXPECT_EQ(MessageOf({"", "x.duckdb", ""}, a),
            "data: a query needs a source or a database, and a database needs a query; set both");
  EXPECT_EQ(MessageOf({"other.csv", "x.duckdb", "SELECT a FROM t"}, a),
            "data: both source and database are set; keep one");
}

// Weekdays and months from two sources that have the same rows, in text and in each type.
TEST_F(DataSourceTest, ReadsDatesFromEverySource) {
  const std::string rows =
      "(VALUES ('2013-01-05 23:30:00'), ('2013-03-31 00:00:00'), ('2013-01-01 07:59:59.5')) t(v)";
  Sql("x.duckdb", {"CREATE TABLE stamps AS SELECT v::TIMESTAMP AS v FROM " + rows,
                   "CREATE TABLE nanos AS SELECT v::TIMESTAMP_NS AS v FROM " + rows,
                   "CREATE TABLE days AS SELECT v::TIMESTAMP::DATE AS v FROM " + rows,
                   "COPY (SELECT v::TIMESTAMP AS v FROM " + rows + ") TO 'stamps.parquet'",
                   "COPY (SELECT v::TIMESTAMP::DATE AS v FROM " + rows + ") TO 'days.parquet'",
                   "COPY (SELECT v FROM " + rows + ") TO 'text.csv'",
                   "COPY (SELECT v::TIMESTAMP::DATE AS v FROM " + rows + ") TO 'days.csv'",
                   "COPY (SELECT v FROM " + rows + ") TO 'text.jsonl' (FORMAT json)"});
  const std::vector<DataSource> with_times = {{"stamps.parquet", "", ""},
                                              {"text.csv", "", ""},
                                              {"text.jsonl", "", ""},
                                              {"", "x.duckdb", "SELECT v FROM stamps"},
                                              {"", "x.duckdb", "SELECT v FROM nanos"}};
  std::vector<DataSource> sources = with_times;
  sources.push_back({"days.parquet", "", ""});
  sources.push_back({"days.csv", "", ""});
  sources.push_back({"", "x.duckdb", "SELECT v FROM days"});
  for (const DataSource& source : sources) {
    SCOPED_TRACE(source.source + source.query);
    EXPECT_EQ(ReadOne(source, Dates("v", "2013-01-01", "2013-12-31", DateStep::kDay)),
              (Codes{4, 89, 0}));
    EXPECT_EQ(ReadOne(source, Dates("v", "2013-01-01", "2013-12-31", DateStep::kQuarter)),
              (Codes{0, 0, 0}));
    EXPECT_EQ(ReadOne(source, Dates("v", "2013-01-01", "2013-12-31", DateStep::kMonth)),
              (Codes{0, 2, 0}));
    EXPECT_EQ(ReadOne(source, Part("v", DatePart::kWeekday)), (Codes{5, 6, 1}));
    EXPECT_EQ(ReadOne(source, Dates("v", "2013-01-02", "2013-01-31", DateStep::kDay,
                                    OutsidePolicy::kClamp)),
              (Codes{3, 29, 0}));
  }
  for (const DataSource& source : with_times) {
    EXPECT_EQ(ReadOne(source, Part("v", DatePart::kHour)), (Codes{23, 0, 7})) << source.source;
  }
  EXPECT_EQ(MessageOf({"days.parquet", "", ""}, Part("v", DatePart::kHour)),
            "days.parquet: column 'v' is of type DATE, which cannot be read as a date with a time; "
            "give attributes.v values, or convert it in a query");
  EXPECT_EQ(MessageOf({"days.csv", "", ""}, Part("v", DatePart::kHour)),
            "days.csv: column 'v' has the value '2013-01-05' (row 1), a date without a time; set "
            "outside = \"drop\" or \"null\" (with null = true) for attributes.v, or choose another "
            "part");
}

// Whatever zone the machine is in.
TEST_F(DataSourceTest, TimesWithAnOffsetAreTakenInUtc) {
  setenv("TZ", "America/New_York", 1);
  Sql("", {"COPY (SELECT make_timestamptz(1357430400000000) AS v) TO 'zone.parquet'"});
  Write("zone.csv", "v\n2013-01-06T01:00:00+01:00\n");
  for (const std::string file : {"zone.parquet", "zone.csv"}) {
    EXPECT_EQ(ReadOne({file, "", ""}, Dates("v", "2013-01-01", "2013-01-31", DateStep::kDay)),
              (Codes{5}))
        << file;
    EXPECT_EQ(ReadOne({file, "", ""}, Part("v", DatePart::kHour)), (Codes{0})) << file;
  }
  unsetenv("TZ");
}

TEST_F(DataSourceTest, WhatIsNoDateFollowsThePolicy) {
  Write("t.csv", "v\n2013-01-05\n2013-02-30\n2014-01-01\n\nx\n");
  const DataSource source{"t.csv", "", ""};
  const auto of = [](OutsidePolicy outside, bool null_cell) {
    return Dates("v", "2013-01-01", "2013-12-31", DateStep::kMonth, outside, null_cell);
  };
  EXPECT_EQ(ReadOne(source, of(kDrop, false)), (Codes{0}));
  EXPECT_EQ(ReadOne(source, of(kNull, true)), (Codes{0, 12, 12, 12, 12}));
  EXPECT_EQ(ReadOne(source, of(kClamp, true)), (Codes{0, 12, 11, 12, 12}));
  EXPECT_FALSE(StoppingValuesOf(of(kClamp, true).encoding).any());
  EXPECT_EQ(MessageOf(source, of(kError, false)),
            "t.csv: column 'v' has the value '2013-02-30' (row 2), not a date like 2013-01-31 or "
            "2013-01-31 23:59; set outside = \"drop\" or \"null\" (with null = true) for "
            "attributes.v, or convert it in a query");
  Write("late.csv", "v\n2014-01-01\n");
  EXPECT_EQ(MessageOf({"late.csv", "", ""}, of(kError, false)),
            "late.csv: column 'v' has the value 2014-01-01 (row 1), outside 2013-01-01 to "
            "2013-12-31; set outside = \"clamp\", \"drop\" or \"null\" (with null = true) for "
            "attributes.v, or widen dates");
  Sql("", {"COPY (SELECT 20130105 AS v) TO 'n.parquet'",
           "COPY (SELECT DATE '2013-01-05' AS v) TO 'd.parquet'"});
  EXPECT_EQ(MessageOf({"n.parquet", "", ""}, of(kError, false)),
            "n.parquet: column 'v' is of type INTEGER, which cannot be read as a date; give "
            "attributes.v values, or convert it in a query");
  EXPECT_EQ(MessageOf({"d.parquet", "", ""}, Integers("v", 0, 3)),
            "d.parquet: column 'v' is of type DATE, which cannot be read as an integer; give "
            "attributes.v values, or convert it in a query");
}

TEST_F(DataSourceTest, AttributesMayShareAColumn) {
  const Domain domain({OfColumn(Part("weekday", DatePart::kWeekday), "day"),
                       Dates("day", "2013-01-01", "2013-12-31", DateStep::kMonth),
                       Integers("n", 0, 9), OfColumn(Cuts("size", {2}), "n")});
  Write("t.csv", "n,day\n1,2013-01-05\n3,2013-02-04\n");
  Write("t.jsonl", "{\"n\": 1, \"day\": \"2013-01-05\"}\n{\"n\": 3, \"day\": \"2013-02-04\"}\n");
  for (const std::string file : {"t.csv", "t.jsonl"}) {
    const EncodedTable table = ReadEncodedTable({file, "", ""}, domain).table;
    EXPECT_EQ(CodesOf(table, 0), (Codes{5, 0})) << file;
    EXPECT_EQ(CodesOf(table, 1), (Codes{0, 1})) << file;
    EXPECT_EQ(CodesOf(table, 2), (Codes{1, 3})) << file;
    EXPECT_EQ(CodesOf(table, 3), (Codes{0, 1})) << file;
  }
  EXPECT_EQ(
      MessageOf({"t.csv", "", ""}, OfColumn(Integers("n", 0, 9), "Day")),
      "t.csv: no column 'Day', but a column 'day'; spell attributes.n.column like the column");
  EXPECT_EQ(MessageOf({"t.csv", "", ""}, OfColumn(Integers("a", 0, 2), "n")),
            "t.csv: column 'n' has the value 3 (row 2), outside 0..2; set outside = \"clamp\", "
            "\"drop\" or \"null\" (with null = true) for attributes.a, or widen integers");
}

TEST_F(DataSourceTest, NullValuesAreMissingInEveryColumn) {
  Write("t.csv", "a,b,c,d\nNA,NA,2013-01-05,1\n3,x,-,NA\n-,-,NA,2\n");
  DataSource source{"t.csv", "", ""};
  source.null_values = {"NA", "-"};
  const Domain domain({Integers("a", 0, 9, kError, true), Values("b", {"x", "y"}, kError, true),
                       Dates("c", "2013-01-01", "2013-12-31", DateStep::kMonth, kError, true),
                       Cuts("d", {1}, kError, true)});
  const ReadResult read = ReadEncodedTable(source, domain);
  EXPECT_EQ(CodesOf(read.table, 0), (Codes{10, 3, 10}));
  EXPECT_EQ(CodesOf(read.table, 1), (Codes{2, 0, 2}));
  EXPECT_EQ(CodesOf(read.table, 2), (Codes{0, 12, 12}));
  EXPECT_EQ(CodesOf(read.table, 3), (Codes{0, 2, 1}));
  EXPECT_EQ(read.report.attributes[0].num_missing, 2);
  Sql("", {"COPY (SELECT * FROM (VALUES (-9, -9.0::DOUBLE, -9.00::DECIMAL(9,2)), (1, 1.0, 1.00)) "
           "t(i, f, m)) TO 't.parquet'"});
  source = {"t.parquet", "", ""};
  source.null_values = {"-9"};
  for (const std::string name : {"i", "f", "m"}) {
    EXPECT_EQ(ReadOne(source, Integers(name, 0, 9, kError, true)), (Codes{10, 1})) << name;
    EXPECT_EQ(ReadOne(source, Cuts(name, {0}, kError, true)), (Codes{2, 1})) << name;
    EXPECT_EQ(ReadOne(source, Values(name, {"1", "2"}, kError, true)), (Codes{2, 0})) << name;
  }
  // Files of text write a column of floating-point numbers so.
  Write("f.csv", "n\n-9.0\n-9\n1\n");
  DataSource floats{"f.csv", "", ""};
  floats.null_values = {"-9"};
  EXPECT_EQ(ReadOne(floats, Integers("n", 0, 9, kError, true)), (Codes{10, 10, 1}));
  EXPECT_EQ(ReadOne(floats, Values("n", {"1", "2"}, kError, true)), (Codes{2, 2, 0}));
  source.null_values = {"x", "1"};
  EXPECT_EQ(MessageOf(source, Values("i", {"2", "1"})),
            "data: null_values and attributes.i.values both list '1', which would never be counted "
            "as a value; keep one");
}

// Rows that nobody owns may belong to anyone.
TEST_F(DataSourceTest, NullValuesAreNoIdentifiers) {
  Write("t.csv", "who,a\nNA,1\nann,2\nNA,3\n");
  DataSource source{"t.csv", "", ""};
  source.null_values = {"NA"};
  Protection protection;
  protection.identifier = "who";
  const ReadReport report = SurveyTable(source, Domain({Integers("a", 0, 9)}), protection);
  EXPECT_EQ(report.num_rows_without_identifier, 2);
  EXPECT_EQ(report.num_rows_over, 0);
  Sql("", {"COPY (SELECT * FROM (VALUES ('nan'::DOUBLE, 1), (-9.0, 2), (7.0, 3), ('nan', 4)) "
           "t(who, a)) TO 't.parquet'"});
  source = {"t.parquet", "", ""};
  source.null_values = {"-9"};
  const ReadReport of_numbers = SurveyTable(source, Domain({Integers("a", 0, 9)}), protection);
  EXPECT_EQ(of_numbers.num_rows_without_identifier, 3);
  EXPECT_EQ(of_numbers.num_rows_over, 0);
}

TEST_F(DataSourceTest, OtherValuesHaveACell) {
  Write("t.csv", "v\nDL\nXX\nother\nAA\n\n");
  const Attribute attribute = Made("v", 4, {ValueEncoding{{"AA", "DL"}}, true, kOther});
  EXPECT_EQ(ReadOne({"t.csv", "", ""}, attribute), (Codes{1, 2, 2, 0, 3}));
  const ReadReport report = SurveyTable({"t.csv", "", ""}, Domain({attribute}), {});
  EXPECT_EQ(report.attributes[0].num_outside, 1);
  EXPECT_EQ(report.num_rows_dropped, 0);
}

TEST_F(DataSourceTest, ComparesNumbersWithValuesAsNumbers) {
  Sql("", {"COPY (SELECT * FROM (VALUES (1.0::DOUBLE), (2.0), ('nan'), (NULL)) t(v)) TO "
           "'d.parquet'",
           "COPY (SELECT * FROM (VALUES (1.00::DECIMAL(9,2)), (2.00), (NULL), (NULL)) t(v)) TO "
           "'m.parquet'",
           "COPY (SELECT * FROM (VALUES (1::FLOAT), (2), ('nan'), (NULL)) t(v)) TO 'f.parquet'",
           "COPY (SELECT 1.5::DOUBLE AS v) TO 'half.parquet'"});
  for (const std::string file : {"d.parquet", "m.parquet", "f.parquet"}) {
    EXPECT_EQ(ReadOne({file, "", ""}, Values("v", {"2", "1"}, kError, true)), (Codes{1, 0, 2, 2}))
        << file;
    EXPECT_EQ(ReadOne({file, "", ""}, Values("v", {"1.0", "2.0"}, kError, true)),
              (Codes{0, 1, 2, 2}))
        << file;
  }
  EXPECT_EQ(ReadOne({"half.parquet", "", ""}, Values("v", {"1", "2"}, kDrop)), (Codes{}));
  Write("t.csv", "v\n1.0\n1\n01\n1e0\n2.00\n2.5\n");
  EXPECT_EQ(ReadOne({"t.csv", "", ""}, Values("v", {"1", "2"}, kDrop)), (Codes{0, 0, 1}))
      << "text is compared as it stands, but for a decimal point";
}

TEST_F(DataSourceTest, ReadsTruthAsPythonAndRWriteIt) {
  Write("t.csv", "v\nTrue\nFALSE\ntrue\nTRUE\nFalse\nfalse\n\"\"\n");
  EXPECT_EQ(ReadOne({"t.csv", "", ""}, Values("v", {"false", "true"}, kError, true)),
            (Codes{1, 0, 1, 1, 0, 0, 2}));
  EXPECT_EQ(ReadOne({"t.csv", "", ""}, Values("v", {"false", "true", "maybe"}, kDrop)),
            (Codes{1, 0}))
      << "beside other values, they are texts";
  EXPECT_EQ(ReadOne({"t.csv", "", ""}, Values("v", {"True", "False"}, kDrop)), (Codes{0, 1}));
  Write("wrong.csv", "v\ntRUE\n");
  EXPECT_THROW(ReadOne({"wrong.csv", "", ""}, Values("v", {"false", "true"})), Error);
}

TEST_F(DataSourceTest, QueriesReadTheirFileAsTheTableData) {
  Write("t.csv", "age,\"net income\",sex\n5,10,f\n7,NA,m\n9,30,f\n");
  Write("other.csv", "age\n1\n");
  Write("t.jsonl", "{\"age\": 5, \"sex\": \"f\"}\n{\"age\": 9, \"sex\": \"f\"}\n");
  Sql("", {"COPY (SELECT * FROM (VALUES (5, 'f'), (7, 'm'), (9, 'f')) t(age, sex)) TO "
           "'t.parquet'"});
  const Attribute age = Integers("age", 0, 9);
  const std::string females = "SELECT * FROM data WHERE sex = 'f' -- all of them;";
  for (const std::string file : {"t.csv", "t.parquet", "t.jsonl"}) {
    EXPECT_EQ(ReadOne({file, "", females}, age), (Codes{5, 9})) << file;
  }
  EXPECT_EQ(ReadOne({"t.csv", "", "SELECT TRY_CAST(\"net income\" AS INTEGER) / 10 AS x FROM data"},
                    Cuts("x", {1, 2}, kError, true)),
            (Codes{0, 3, 2}));
  EXPECT_EQ(ReadOne({"t.parquet", "", "SELECT age + 1 AS n FROM data"}, Integers("n", 0, 10)),
            (Codes{6, 8, 10}));
  EXPECT_TRUE(SurveyQuery({"t.csv", "", females}).operations.empty());
  EXPECT_EQ(SurveyQuery({"t.csv", "", "SELECT age FROM data GROUP BY age"}).operations,
            std::vector<RowOperation>{RowOperation::kAggregate});
  for (const std::string query :
       {"SELECT * FROM read_csv('other.csv')", "SELECT * FROM 'other.csv'",
        "SELECT * FROM read_csv('t.csv')", "SELECT * FROM 't.csv'",
        "SELECT content AS age FROM read_text('t.csv')", "DROP TABLE data",
        "SELECT * FROM data; SELECT 1", "SELECT nextval('x') AS age FROM data"}) {
    EXPECT_NE(MessageOf({"t.csv", "", query}, age), "") << query;
  }
  EXPECT_EQ(
      MessageOf({"t.csv", "", "SELECT * FROM read_csv('t.csv')"}, age),
      "t.csv: the query reads a file by itself, which is not allowed; select from its tables, "
      "or from data if it is a file");
  EXPECT_EQ(MessageOf({"t.csv", "", "SELECT sex FROM data"}, age),
            "t.csv: no column 'age'; it has sex: rename or remove attributes.age");
  Write("same.csv", "a,A\n1,2\n");
  EXPECT_EQ(MessageOf({"same.csv", "", "SELECT a FROM data"}, Integers("a", 0, 9)),
            "same.csv: SQL cannot tell the columns 'a' and 'A' apart; rename one, or leave out the "
            "query");
}

TEST_F(DataSourceTest, ReadsTabsAndCompressedFiles) {
  Write("t.tsv", "a,b,c\td\n1\t2\n");
  EXPECT_EQ(ReadOne({"t.tsv", "", ""}, Integers("d", 0, 3)), (Codes{2})) << "tabs, by its ending";
  const std::string rows = "(SELECT i AS a FROM range(3) r(i))";
  Sql("", {"COPY " + rows + " TO 't.csv.gz' (FORMAT csv, COMPRESSION gzip)",
           "COPY " + rows + " TO 't.csv.zst' (FORMAT csv, COMPRESSION zstd)",
           "COPY " + rows + " TO 't.tsv.gz' (FORMAT csv, DELIMITER '\t', COMPRESSION gzip)",
           "COPY " + rows + " TO 't.jsonl.gz' (FORMAT json, COMPRESSION gzip)"});
  for (const std::string file : {"t.csv.gz", "t.csv.zst", "t.tsv.gz", "t.jsonl.gz"}) {
    EXPECT_EQ(ReadOne({file, "", ""}, Integers("a", 0, 3)), (Codes{0, 1, 2})) << file;
    EXPECT_EQ(ReadOne({file, "", "SELECT a FROM data"}, Integers("a", 0, 3)), (Codes{0, 1, 2}))
        << file;
  }
}

TEST_F(DataSourceTest, RefusesEncodingsThatContradictThemselves) {
  Write("t.csv", "a\n1\n");
  const DataSource source{"t.csv", "", ""};
  EXPECT_EQ(MessageOf(source, Cuts("a", {1}, kClamp)),
            "attributes.a.outside \"clamp\" only makes sense with integers, numbers or dates = "
            "[FIRST, LAST]");
  EXPECT_EQ(MessageOf(source, Integers("a", 0, 3, kNull)),
            "attributes.a.outside \"null\" needs null = true beside it");
  EXPECT_EQ(MessageOf(source, Values("a", {"x", "x"})), "attributes.a.values lists 'x' twice");
  EXPECT_EQ(MessageOf(source, Cuts("a", {2, 1})), "attributes.a.cuts must increase strictly");
  EXPECT_EQ(MessageOf(source, Made("a", 7, {IntegerEncoding{0, 3}, false, kError})),
            "attributes.a.size is 7, and the encoding has 4 cells");
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(MessageOf(source, Made("a", 7, {IntegerEncoding{kFirst, kLast}, false, kError})),
            "attributes.a.integers [-9223372036854775808, 9223372036854775807] is not an "
            "increasing range of at most 2^40 integers");
  EXPECT_EQ(
      MessageOf(source, Integers("a", 0, 16777216)),
      "attribute 'a' has 16777217 cells; at most 16777216 can be counted: give it wider cuts or "
      "fewer values");
}

TEST(CsvHeader, FindsDelimiterAndNames) {
  EXPECT_EQ(ParseCsvHeader("a").names, (std::vector<std::string>{"a"}));
  EXPECT_EQ(ParseCsvHeader("a").delimiter, ',');
  EXPECT_EQ(ParseCsvHeader("\"a;b;c\",d").names, (std::vector<std::string>{"a;b;c", "d"}));
  EXPECT_EQ(ParseCsvHeader("\"a\"\"b\"|c").names, (std::vector<std::string>{"a\"b", "c"}));
  EXPECT_EQ(ParseCsvHeader("a|b,c|d").delimiter, '|');
}

TEST(ShownText, StaysOnOneShortLine) {
  EXPECT_EQ(ShownText("a\tb\n"), "a\\x09b\\x0a");
  EXPECT_EQ(ShownText(std::string(100, 'x')), std::string(60, 'x') + "...");
}

}  // namespace
}  // namespace residua
