#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "residua/base/error.h"
#include "residua/data/data_source.h"
#include "residua/measure/counting.h"
#include "residua/measure/true_counts.h"
#include "residua/noise/secure_bits.h"
#include "tests/data/arrow_rows.h"
#include "tests/fixtures/folder_test.h"
#include "tests/measure/random_table.h"

namespace residua {
namespace {

using Marginals = std::map<AttributeSet, std::vector<int64_t>>;

const std::vector<AttributeSet> kSets = {{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};

// Ages that may be dropped, values with a null cell, and a clamped number.
Domain PeopleDomain() {
  Attribute age;
  age.name = "age";
  age.size = 50;
  age.encoding = {IntegerEncoding{0, 49}, false, OutsidePolicy::kDrop};
  Attribute colour;
  colour.name = "colour";
  colour.size = 4;
  colour.encoding = {ValueEncoding{{"red", "green", "a longer name of a colour"}}, true, {}};
  Attribute size;
  size.name = "size";
  size.size = 7;
  size.encoding = {IntegerEncoding{1, 7}, false, OutsidePolicy::kClamp};
  return Domain({age, colour, size});
}

class ReadCountedRowsTest : public FolderTest {
 protected:
  // Several of DuckDB's chunks, and row groups: enough for two threads to work at once.
  static std::string PeopleCsv(int num_rows, const std::string& odd_row = "", int at = -1) {
    std::mt19937_64 random(1);
    const std::vector<std::string> colours = {"red", "green", "a longer name of a colour", ""};
    std::string csv = "age,colour,size\n";
    for (int row = 0; row < num_rows; ++row) {
      if (row == at) csv += odd_row;
      csv += fmt::format("{},{},{}\n", random() % 55, colours[random() % 4], random() % 10);
    }
    return csv;
  }

  CountedResult Read(const DataSource& source, const CountingOptions& options = {},
                     const RowProgress& on_rows = {}) const {
    return ReadCountedRows(source, domain_, {}, ThreadSecureBits(), kSets, options, on_rows);
  }

  // The counts are those of the rows held at once, and so is the report.
  void ExpectSame(const DataSource& source, const DataSource& again,
                  const CountingOptions& options = {}) const {
    CountedResult counted = Read(source, options);
    const ReadResult read = ReadEncodedTable(again, domain_);
    EXPECT_EQ(counted.rows.num_rows(), read.table.num_rows());
    EXPECT_EQ(counted.report.num_rows_read, read.report.num_rows_read);
    EXPECT_EQ(counted.report.num_rows_dropped, read.report.num_rows_dropped);
    for (size_t i = 0; i < 3; ++i) {
      const AttributeReport& one = counted.report.attributes[i];
      const AttributeReport& other = read.report.attributes[i];
      EXPECT_EQ(one.num_dropped, other.num_dropped);
      EXPECT_EQ(one.num_clamped, other.num_clamped);
      EXPECT_EQ(one.num_nulled, other.num_nulled);
      EXPECT_EQ(one.num_missing, other.num_missing);
    }
    Marginals marginals;
    CountMarginalBatches(counted.rows, {}, [&](std::vector<TrueMarginal>&& batch) {
      for (const TrueMarginal& m : batch) marginals[m.attributes()] = TrueCounts::Cells(m);
    });
    Marginals expected;
    CountMarginals(read.table, domain_, kSets, {},
                   [&](TrueMarginal&& m) { expected[m.attributes()] = TrueCounts::Cells(m); });
    EXPECT_EQ(marginals, expected);
  }

  std::string MessageOf(const DataSource& source) const {
    try {
      Read(source);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const Domain domain_ = PeopleDomain();
};

TEST_F(ReadCountedRowsTest, CountsWhatIsHeldOtherwise) {
  Write("people.csv", PeopleCsv(300'000));
  Sql("people.duckdb", {"CREATE TABLE t AS SELECT age::INT AS age, colour, size::DOUBLE AS size "
                        "FROM read_csv('people.csv', nullstr = '')",
                        "COPY t TO 'people.parquet' (ROW_GROUP_SIZE 20000)"});
  const std::string query = "SELECT * FROM data WHERE age > 7 AND size > 2";
  for (const DataSource& source : std::vector<DataSource>{
           {"people.csv", "", ""},
           {"people.parquet", "", ""},
           {"people.parquet", "", query},
           {"people.csv", "", "SELECT age::INT AS age, colour, size FROM data -- all"},
           {"", "people.duckdb", "SELECT age, colour, size FROM t ORDER BY ALL LIMIT 1000"}}) {
    ExpectSame(source, source);
    // Without the memory to count as rows come.
    ExpectSame(source, source, {.memory_budget_bytes = 1000});
  }
}

TEST_F(ReadCountedRowsTest, CountsFilesOfFewRowsAndNone) {
  for (const int num_rows : {0, 1, 2}) {
    Write("few.csv", PeopleCsv(num_rows));
    ExpectSame({"few.csv", "", ""}, {"few.csv", "", ""});
  }
}

// A text is read as it was the first time, and what has no cell is counted every time.
TEST_F(ReadCountedRowsTest, CountsTextsThatComeAgain) {
  Attribute number;
  number.name = "number";
  number.size = 2001;
  number.encoding = {IntegerEncoding{0, 1999}, true, OutsidePolicy::kClamp};
  const Domain domain({number});
  std::mt19937_64 random(3);
  std::string csv = "number\n";
  std::vector<int64_t> expected(2001, 0);
  int64_t num_clamped = 0;
  int64_t num_missing = 0;
  for (int row = 0; row < 200'000; ++row) {
    const auto value = static_cast<int64_t>(random() % 3000) - 500;
    const int shape = static_cast<int>(random() % 4);
    if (shape == 0 && value % 7 == 0) {
      csv += "NA\n";
      ++expected.back();
      ++num_missing;
      continue;
    }
    const std::string_view after = shape == 2 ? ".000000000000" : "";
    csv += fmt::format("{}{}{}\n", shape == 1 ? " " : "", value, after);
    num_clamped += value < 0 || value > 1999 ? 1 : 0;
    ++expected[static_cast<size_t>(std::clamp<int64_t>(value, 0, 1999))];
  }
  Write("numbers.csv", csv);
  DataSource source{"numbers.csv", "", ""};
  source.null_values = {"NA"};
  CountedResult read = ReadCountedRows(source, domain, {}, ThreadSecureBits(), {{0}}, {});
  EXPECT_EQ(read.report.attributes[0].num_clamped, num_clamped);
  EXPECT_EQ(read.report.attributes[0].num_missing, num_missing);
  CountMarginalBatches(read.rows, {}, [&](std::vector<TrueMarginal>&& batch) {
    EXPECT_EQ(TrueCounts::Cells(batch.front()), expected);
  });
}

// Values that are all alike, or all missing, are rows too.
TEST_F(ReadCountedRowsTest, CountsConstantColumns) {
  Sql("same.duckdb", {"CREATE TABLE t AS SELECT 7 AS age, NULL::VARCHAR AS colour, 3 AS size "
                      "FROM range(10000)"});
  for (const std::string query : {"SELECT * FROM t",
                                  "SELECT 7 AS age, NULL AS colour, 1 AS size "
                                  "FROM range(5000)"}) {
    ExpectSame({"", "same.duckdb", query}, {"", "same.duckdb", query});
  }
}

// A dictionary may list values that no row has: nothing is reported or refused because of them.
TEST_F(ReadCountedRowsTest, LooksAtNoValueThatNoRowHas) {
  Sql("listed.duckdb", {"CREATE TYPE colour AS ENUM ('red', 'blue', 'a colour that no row has', "
                        "'green', 'a longer name of a colour')",
                        "CREATE TABLE t AS SELECT i % 60 AS age, CASE i % 4 WHEN 0 THEN 'red' "
                        "WHEN 1 THEN 'green' WHEN 2 THEN 'a longer name of a colour' END::colour "
                        "AS colour, i % 9 AS size FROM range(100000) r(i)",
                        "COPY t TO 'listed.parquet'",
                        "COPY (SELECT age, CASE WHEN age = 7 AND size = 7 THEN 'blue'::colour "
                        "ELSE colour END AS colour, size FROM t) TO 'blue.parquet'"});
  ExpectSame({"listed.parquet", "", ""}, {"listed.parquet", "", ""});
  const std::string message = MessageOf({"blue.parquet", "", ""});
  EXPECT_NE(message.find("column 'colour' has the value 'blue' (row "), std::string::npos)
      << message;
}

// Every type that is read as it is stored, with and without a dictionary, gives the same codes as
// the cast that is used in order.
TEST_F(ReadCountedRowsTest, CountsEveryTypeAsItsCast) {
  Sql("t.duckdb", {"CREATE TABLE t AS SELECT (i * 7) % 120 AS n, i FROM range(30000) r(i)"});
  const auto is_signed = [](const std::string& type) { return type[0] != 'U'; };
  for (const std::string type :
       {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "FLOAT",
        "DOUBLE", "UBIGINT", "HUGEINT", "DECIMAL(9,2)", "VARCHAR"}) {
    const std::string shift = is_signed(type) ? " - 30" : "";
    const std::string number = "CASE WHEN i % 13 = 5 THEN NULL ELSE n" + shift + " END::" + type;
    for (const std::string format : {"", ", DICTIONARY_SIZE_LIMIT 1"}) {
      Sql("t.duckdb", {"COPY (SELECT coalesce(" + number + ", 77::" + type +
                       ") AS age, CASE i % 3 WHEN 0 THEN 'red' WHEN 1 THEN 'green' END AS "
                       "colour, coalesce(" +
                       number + ", 3::" + type +
                       ") AS size FROM t) TO 'typed.parquet' (FORMAT parquet" + format + ")"});
      SCOPED_TRACE(type + format);
      ExpectSame({"typed.parquet", "", ""}, {"typed.parquet", "", ""});
      DataSource nulls{"typed.parquet", "", ""};
      nulls.null_values = {"15", "-9", "77.0"};
      // Ages may be dropped, but no size may be missing.
      nulls.query = "SELECT age, colour, 2 AS size FROM data";
      ExpectSame(nulls, nulls);
    }
  }
}

// More different texts than are remembered, and cells that take codes of 16 and 32 bits.
TEST_F(ReadCountedRowsTest, CountsManyDifferentValues) {
  for (const int64_t size : {8192, 8193, 70'000}) {
    Attribute number;
    number.name = "n";
    number.size = size + 1;
    number.encoding = {IntegerEncoding{5, 4 + size}, true, OutsidePolicy::kClamp};
    const Domain domain({number});
    Sql("", {fmt::format("COPY (SELECT CASE WHEN i % 11 = 3 THEN NULL ELSE (i * 7919) % {} END AS "
                         "n FROM range(150000) r(i)) TO 'many.parquet'",
                         size + 20),
             "COPY (SELECT n::VARCHAR AS n FROM 'many.parquet') TO 'many.csv'"});
    std::vector<int64_t> expected(static_cast<size_t>(size + 1), 0);
    int64_t num_clamped = 0;
    int64_t num_missing = 0;
    for (int64_t i = 0; i < 150'000; ++i) {
      const int64_t n = i * 7919 % (size + 20);
      if (i % 11 == 3) {
        ++num_missing;
        ++expected.back();
        continue;
      }
      if (n < 5 || n > 4 + size) ++num_clamped;
      ++expected[static_cast<size_t>(std::clamp<int64_t>(n - 5, 0, size - 1))];
    }
    for (const std::string file : {"many.parquet", "many.csv"}) {
      const DataSource source{file, "", ""};
      CountedResult read = ReadCountedRows(source, domain, {}, ThreadSecureBits(), {{0}}, {});
      EXPECT_EQ(read.report.attributes[0].num_clamped, num_clamped);
      EXPECT_EQ(read.report.attributes[0].num_missing, num_missing);
      CountMarginalBatches(read.rows, {}, [&](std::vector<TrueMarginal>&& batch) {
        EXPECT_EQ(TrueCounts::Cells(batch.front()), expected) << file << ", " << size;
      });
    }
  }
}

TEST_F(ReadCountedRowsTest, NamesTheFirstFaultInOrder) {
  const std::string fault = "30,blue,3\n";
  Write("people.csv", PeopleCsv(200'000, fault, 150'000) + fault);
  const std::string message = MessageOf({"people.csv", "", ""});
  EXPECT_NE(message.find("column 'colour' has the value 'blue' (row 150001)"), std::string::npos)
      << message;
  Write("people.csv", PeopleCsv(200'000, "30,red\n", 150'000));
  EXPECT_NE(MessageOf({"people.csv", "", ""}).find("Expected Number of Columns"),
            std::string::npos);
}

TEST_F(ReadCountedRowsTest, StopsWhenAsked) {
  Write("people.csv", PeopleCsv(400'000));
  EXPECT_THROW(Read({"people.csv", "", ""}, {},
                    [](int64_t) { Fail(ErrorKind::kStopped, "stopped before it was done"); }),
               Error);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(Read({"people.csv", "", ""}, {.stop = stop.get_token()}), Error);
}

TEST_F(ReadCountedRowsTest, TellsHowManyRowsItHasRead) {
  Write("people.csv", PeopleCsv(100'000));
  int64_t last = 0;
  Read({"people.csv", "", ""}, {}, [&](int64_t num_rows) {
    EXPECT_GE(num_rows, last);
    last = num_rows;
  });
  EXPECT_EQ(last, 100'000);
}

TEST_F(ReadCountedRowsTest, CountsArrowStreamsInParts) {
  std::mt19937_64 random(2);
  std::vector<ArrowRows::Column> columns = {{"a", {}}, {"b", {}}};
  for (int row = 0; row < 1'200'000; ++row) {
    columns[0].second.push_back(static_cast<int64_t>(random() % 4));
    columns[1].second.push_back(static_cast<int64_t>(random() % 5));
  }
  const Domain domain({{"a", 4, QueryKind::kIdentity, {}}, {"b", 5, QueryKind::kIdentity, {}}});
  const std::vector<AttributeSet> sets = {{}, {0}, {1}, {0, 1}};
  std::map<int64_t, int64_t> expected;
  for (size_t r = 0; r < 1'200'000; ++r) {
    ++expected[columns[0].second[r] * 5 + columns[1].second[r]];
  }
  ArrowRows rows(columns);
  DataSource source;
  source.arrow = rows.stream();
  CountedResult counted = ReadCountedRows(source, domain, {}, ThreadSecureBits(), sets, {});
  EXPECT_GT(counted.rows.num_rows(), counted.rows.rows_per_part());
  CountMarginalBatches(counted.rows, {}, [&](std::vector<TrueMarginal>&& batch) {
    for (const TrueMarginal& marginal : batch) {
      if (marginal.attributes() != AttributeSet{0, 1}) continue;
      for (int64_t c = 0; c < 20; ++c) {
        EXPECT_EQ(TrueCounts::Cells(marginal)[static_cast<size_t>(c)], expected[c]);
      }
    }
  });
}

}  // namespace
}  // namespace residua
