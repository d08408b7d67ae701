#include "residua/release/data_places.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "tests/data/arrow_rows.h"

namespace residua {
namespace {

constexpr const char* kFolder = "spec";

std::string Problem(const DataReference& reference, const NamedPlaces& named) {
  try {
    FindPlaces(reference, kFolder, named);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DataPlaces, PathsOfASpecAreRelativeToIt) {
  const DataPlaces places = FindPlaces({"../people.csv", "", "", ""}, kFolder);
  EXPECT_EQ(places.data.source, "people.csv");
  EXPECT_EQ(places.ledger, "people.csv.ledger");
  EXPECT_FALSE(places.names_ledger);
  const DataPlaces query = FindPlaces({"", "p.duckdb", "FROM t", "p.ledger"}, kFolder);
  EXPECT_EQ(query.data.database, "spec/p.duckdb");
  EXPECT_EQ(query.data.query, "FROM t");
  EXPECT_EQ(query.ledger, "spec/p.ledger");
  EXPECT_TRUE(query.names_ledger);
}

TEST(DataPlaces, WhatIsNamedComesFirst) {
  const DataReference planned{"people.csv", "", "", "planned.ledger"};
  NamedPlaces named;
  named.source = "other.csv";
  EXPECT_EQ(FindPlaces(planned, kFolder, named).data.source, "other.csv");
  EXPECT_EQ(FindPlaces(planned, kFolder, named).ledger, "spec/planned.ledger");
  EXPECT_EQ(FindPlaces({}, kFolder, named).ledger, "other.csv.ledger");
  named.ledger = "named.ledger";
  EXPECT_EQ(FindPlaces(planned, kFolder, named).ledger, "named.ledger");
  EXPECT_TRUE(FindPlaces({}, kFolder, named).names_ledger);
}

// How the planned data is read holds for another file, and what is missing for rows in memory too.
TEST(DataPlaces, AnotherFileIsReadInTheSameWay) {
  DataReference planned{"people.csv", "", "SELECT * FROM data", "p.ledger"};
  planned.null_values = {"NA"};
  EXPECT_EQ(FindPlaces(planned, kFolder).data.source, "spec/people.csv");
  EXPECT_EQ(FindPlaces(planned, kFolder).data.query, "SELECT * FROM data");
  EXPECT_EQ(FindPlaces(planned, kFolder).data.null_values, planned.null_values);
  NamedPlaces named;
  named.source = "other.csv";
  EXPECT_EQ(FindPlaces(planned, kFolder, named).data.query, "SELECT * FROM data");
  EXPECT_EQ(FindPlaces(planned, kFolder, named).data.null_values, planned.null_values);
  EXPECT_EQ(FindPlaces({"", "p.duckdb", "FROM t", ""}, kFolder, named).data.query, "")
      << "a query on a database is not one on a file";
  ArrowRows rows({{"0", {0}}, {"1", {0}}});
  named.arrow = rows.stream();
  EXPECT_EQ(FindPlaces(planned, kFolder, named).data.null_values, planned.null_values);
}

TEST(DataPlaces, RowsInMemoryNeedALedger) {
  ArrowRows rows({{"0", {0}}, {"1", {0}}});
  NamedPlaces named;
  named.arrow = rows.stream();
  EXPECT_EQ(Problem({"people.csv", "", "", ""}, named),
            "rows in memory have no ledger beside them; name the one that their budget is kept in, "
            "such as people.ledger");
  EXPECT_EQ(FindPlaces({"people.csv", "", "", "p.ledger"}, kFolder, named).ledger, "spec/p.ledger");
  named.ledger = "named.ledger";
  const DataPlaces places = FindPlaces({}, kFolder, named);
  EXPECT_EQ(places.data.arrow, rows.stream());
  EXPECT_EQ(places.ledger, "named.ledger");
}

TEST(DataPlaces, DatabasesNeedALedger) {
  const std::string url = "postgresql://host/name";
  EXPECT_EQ(Problem({"", url, "SELECT 1", ""}, {}),
            "postgresql://host/name: a database has no ledger beside it; name the one that its "
            "budget is kept in: set ledger = \"FILE.ledger\" beside database");
  const DataPlaces places = FindPlaces({"", url, "SELECT 1", "p.ledger"}, kFolder);
  EXPECT_EQ(places.data.database, url);
  EXPECT_EQ(places.ledger, "spec/p.ledger");
  EXPECT_EQ(FindPlaces({"", "sqlite:p.db", "SELECT 1", "p.ledger"}, kFolder).data.database,
            "sqlite:spec/p.db");
}

TEST(DataPlaces, DataMustBeNamed) {
  EXPECT_EQ(Problem({}, {}), "the plan names no data; say where it is");
}

}  // namespace
}  // namespace residua
