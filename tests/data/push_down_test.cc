#include "residua/data/database/push_down.h"

#include <gtest/gtest.h>

#include <limits>

#include "residua/base/error.h"
#include "residua/data/database/cell_sql.h"
#include "residua/data/database/sql_literal.h"
#include "residua/noise/secure_bits.h"

namespace residua {
namespace {

// What databases make of it: tests/cli/push_down.py.

Attribute Listed(std::vector<std::string> values) {
  Attribute attribute;
  attribute.name = "x";
  attribute.size = std::ssize(values);
  attribute.encoding = {ValueEncoding{std::move(values)}, false, {}};
  return attribute;
}

Attribute Ages(int64_t last) {
  Attribute attribute;
  attribute.name = "age";
  attribute.size = last + 1;
  attribute.encoding = {IntegerEncoding{0, last}, false, {}};
  return attribute;
}

std::string MessageOfPushDown(const std::string& database, const Domain& domain,
                              const Protection& protection = {}) {
  try {
    CheckPushDown(database, domain, protection);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PushDown, IsDecidedByPublicFacts) {
  const Domain small({Ages(9), Listed({"a", "b"})});
  EXPECT_EQ(MessageOfPushDown("postgresql://host/db", small), "");
  EXPECT_EQ(MessageOfPushDown("sqlite:a.sqlite", small), "");
  for (const char* other : {"", "a.duckdb", "people.csv"}) {
    EXPECT_NE(MessageOfPushDown(other, small).find("read through a driver"), std::string::npos);
  }
  Protection person;
  person.identifier = "id";
  EXPECT_NE(MessageOfPushDown("sqlite:a.sqlite", small, person).find("identifier"),
            std::string::npos);
  EXPECT_NE(MessageOfPushDown("sqlite:a.sqlite", Domain({Ages(999'999), Listed({"a", "b"})}))
                .find("more than 1048576 cells"),
            std::string::npos);
  Attribute delay;
  delay.name = "delay";
  delay.size = 2;
  delay.encoding = {MeanEncoding{.low = 0, .high = 9}, false, {}};
  EXPECT_NE(MessageOfPushDown("sqlite:a.sqlite", Domain({delay})).find("asked for its mean"),
            std::string::npos);
}

TEST(PushDown, RowsThatAreReadAreRefused) {
  const Domain domain({Ages(9)});
  DataSource source;
  source.database = "sqlite:a.sqlite";
  source.query = "SELECT 1";
  source.push_down = true;
  EXPECT_THROW(ReadEncodedTable(source, domain), Error);
  source.database.clear();
  source.source = "people.csv";
  EXPECT_THROW(ReadEncodedTable(source, domain), Error);
  EXPECT_THROW(ReadCountedRows(source, domain, {}, ThreadSecureBits(), {{0}}, CountingOptions()),
               Error);
  EXPECT_THROW(SurveyTable(source, domain, {}), Error);
}

TEST(SqlLiteral, IsExactAndQuoted) {
  EXPECT_EQ(PostgresText("it's \\ E'"), "E'it''s \\\\ E'''");
  EXPECT_EQ(SqlInteger(-3), "(-3)");
  EXPECT_EQ(SqlInteger(std::numeric_limits<int64_t>::min()), "(-9223372036854775808)");
  EXPECT_EQ(SqliteDouble(0), "0.0");
  EXPECT_EQ(SqliteDouble(2.5), "(CAST(5 AS REAL) / CAST(2 AS REAL))");
  EXPECT_EQ(SqliteDouble(-0.1),
            "(CAST(-3602879701896397 AS REAL) / CAST(36028797018963968 AS REAL))");
  EXPECT_EQ(SqliteDouble(-std::numeric_limits<double>::infinity()), "(-9e999)");
}

TEST(CellSql, OutcomesBeginWithTheCells) {
  const Attribute ages = Ages(2);
  const CellSql sql = CellSqlOf(ages, NullValues({"-9"}), SqlColumnType::kInteger, "c0");
  ASSERT_GE(sql.outcomes.size(), 3);
  for (int64_t cell = 0; cell < 3; ++cell) {
    EXPECT_TRUE(sql.outcomes[static_cast<size_t>(cell)]->is_found());
    EXPECT_EQ(sql.outcomes[static_cast<size_t>(cell)]->cell, cell);
  }
  // Whole numbers are below, above, missing or in a cell: nothing else leaves the database.
  EXPECT_EQ(sql.outcomes.size(), 6);
}

TEST(CellSql, RefusesWhatSqlCannotTell) {
  const auto refuses = [](const Attribute& attribute, SqlColumnType type) {
    try {
      CellSqlOf(attribute, {}, type, "c0");
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refuses(Ages(9), SqlColumnType::kText));
  EXPECT_TRUE(refuses(Listed({"2013-01-01 00:00:00"}), SqlColumnType::kTimestamp));
  EXPECT_TRUE(refuses(Listed({"1", "1.0"}), SqlColumnType::kInteger));
  EXPECT_TRUE(refuses(Listed({"01"}), SqlColumnType::kStorageClasses));
  EXPECT_FALSE(refuses(Listed({"01"}), SqlColumnType::kText));
  Attribute large = Ages(9);
  large.encoding.cells = IntegerEncoding{int64_t{1} << 60, (int64_t{1} << 60) + 9};
  EXPECT_TRUE(refuses(large, SqlColumnType::kDouble));
  EXPECT_FALSE(refuses(large, SqlColumnType::kInteger));
}

}  // namespace
}  // namespace residua
