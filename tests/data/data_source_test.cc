#include "residua/data/data_source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "tests/data/source_test.h"

namespace residua {
namespace {

class DataSourceTest : public SourceTest {};

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
            "open.csv: CSV Error on Line: 2: Value with unterminated quote found; close the quote; "
            "inside quotes, a quote is written twice");
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

}  // namespace
}  // namespace residua
