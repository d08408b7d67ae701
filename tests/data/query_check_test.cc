#include "residua/data/query_check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "residua/base/error.h"
#include "residua/data/data_source.h"
#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

class QueryCheckTest : public FolderTest {
 protected:
  // A table of people, and other objects of a database that call functions out of sight.
  void SetUp() override {
    Sql("x.duckdb",
        {"CREATE TABLE t AS SELECT i AS a, i % 3 AS b, 'private' || i AS s, [i, i + 1] AS l, "
         "DATE '2024-02-29' AS d, '{\"k\": 1}'::JSON AS j FROM range(5) r(i)",
         "CREATE TABLE u AS SELECT 1 AS b, 2 AS c", "CREATE SEQUENCE q",
         "CREATE MACRO logged(x) AS write_log(x::VARCHAR, level := 'error', scope := 'database')",
         "CREATE MACRO twice(x) AS 2 * x",
         // Found before DuckDB's own.
         "CREATE MACRO lower(x) AS write_log(x::VARCHAR, level := 'error', scope := 'database')",
         "CREATE MACRO logged_table(x) AS TABLE SELECT a, write_log(s) AS w FROM t WHERE a = x",
         "CREATE VIEW plain_view AS SELECT a, upper(s) AS s FROM t WHERE b > 0",
         "CREATE VIEW log_view AS SELECT a, write_log(s, level := 'error', scope := 'database') AS "
         "w FROM t",
         "CREATE VIEW inner_view AS SELECT a FROM log_view",
         "CREATE VIEW start_view AS SELECT 1 AS a FROM enable_logging(storage := 'stdout')",
         "CREATE VIEW join_view AS SELECT t.a, u.c FROM t JOIN u USING (b)",
         "CREATE TABLE computed(a INTEGER, w VARCHAR GENERATED ALWAYS AS "
         "(write_log(a::VARCHAR, level := 'error', scope := 'database')) VIRTUAL)",
         "INSERT INTO computed VALUES (1)"});
  }

  static std::string MessageOf(const std::string& query) {
    Attribute a;
    a.name = "a";
    a.size = 10;
    a.encoding = {IntegerEncoding{0, 9}, false, OutsidePolicy::kDrop};
    try {
      ReadEncodedTable({"", "x.duckdb", query}, Domain({a}));
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    return "";
  }

  static std::vector<RowOperation> OperationsOf(const std::string& query) {
    return SurveyQuery({"", "x.duckdb", query}).operations;
  }
};

TEST_F(QueryCheckTest, NamesTheFunctionAndTheRemedy) {
  EXPECT_EQ(MessageOf("SELECT a, write_log(s) AS w FROM t"),
            "x.duckdb: the query calls write_log (itself, or in a view or macro), which is not "
            "allowed; compute the column beforehand, in a table of the database");
  EXPECT_EQ(MessageOf("SELECT 1 AS a FROM enable_logging(storage := 'stdout')"),
            "x.duckdb: the query reads from enable_logging (itself, or in a view or macro), which "
            "is not allowed; put the rows into a table of the database beforehand");
  EXPECT_THROW(SurveyQuery({"", "x.duckdb", "SELECT a FROM t WHERE random() < 0.5"}), Error);
}

// Each is refused before a row is read: nothing is printed, and no file appears.
TEST_F(QueryCheckTest, RefusesWhatDoesMoreThanCompute) {
  const std::string start = "WITH e AS MATERIALIZED (FROM enable_logging(storage := 'stdout')) ";
  const std::vector<std::string> attacks = {
      start +
          "SELECT a FROM t, e WHERE write_log(s, level := 'error', scope := 'database') IS NULL",
      start + "SELECT a FROM e, log_view",
      "SELECT a FROM t, start_view v WHERE logged(s) IS NULL",
      // Hidden in the database, or in the query.
      "SELECT a FROM log_view",
      "SELECT a FROM inner_view",
      "SELECT a FROM start_view",
      "SELECT a FROM computed WHERE w IS NULL",
      "SELECT a, logged(s) AS w FROM t",
      "SELECT a, lower(s) AS w FROM t",
      "SELECT a FROM logged_table(1)",
      "SELECT a FROM query('SELECT a, write_log(s) FROM t')",
      "SELECT a FROM query_table('log_view')",
      "SELECT a FROM (SELECT a, write_log(s) FROM t)",
      "SELECT a FROM t WHERE s.write_log() IS NULL",
      "SELECT a, system.main.\"WRITE_LOG\"(s) AS w FROM t",
      "SELECT a FROM t ORDER BY write_log(s)",
      "SELECT DISTINCT ON (write_log(s)) a FROM t",
      "SELECT a FROM t GROUP BY a HAVING max(write_log(s)) IS NULL",
      "SELECT max(a ORDER BY write_log(s)) AS a FROM t",
      "SELECT max(a) FILTER (write_log(s) IS NULL) AS a FROM t",
      "SELECT sum(a) OVER (PARTITION BY write_log(s)) AS a FROM t",
      "SELECT t.a FROM t JOIN u ON write_log(s) IS NULL",
      "SELECT a FROM t WHERE a IN (SELECT a FROM log_view)",
      "SELECT (SELECT max(write_log(s)) FROM t) AS a",
      "SELECT list_transform([s], lambda x: write_log(x)) AS w, a FROM t",
      "SELECT [write_log(x) FOR x IN [s]] AS w, a FROM t",
      "SELECT unnest([write_log(s)]) AS a FROM t",
      "SELECT a FROM t LIMIT (SELECT count(write_log(s)) FROM t)",
      "SELECT CASE WHEN a > 1 THEN write_log(s) END AS w, a FROM t",
      "SELECT struct_pack(w := write_log(s)) AS w, a FROM t",
      "SELECT a FROM t UNION ALL SELECT length(write_log(s)) FROM t",
      "WITH RECURSIVE c AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM c WHERE a < 3 AND "
      "write_log('x') IS NULL) SELECT a FROM c",
      // Settings, state and time.
      "SELECT a, current_setting('threads') AS w FROM t",
      "SELECT a, nextval('q') AS w FROM t",
      "SELECT a, setseed(0.5) AS w FROM t",
      "SELECT a, error(s) AS w FROM t",
      "SELECT a, sleep_ms(1) AS w FROM t",
      "SELECT a, pg_sleep(1) AS w FROM t",
      "SELECT a, random() AS w FROM t",
      "SELECT a, uuid() AS w FROM t",
      "SELECT a, current_query() AS w FROM t",
      "SELECT a, json_serialize_plan('SELECT 1') AS w FROM t",
      // Functions read like tables.
      "SELECT 1 AS a FROM duckdb_logs()",
      "SELECT 1 AS a FROM duckdb_logs",
      "SELECT 1 AS a FROM duckdb_settings()",
      "SELECT 1 AS a FROM duckdb_secrets()",
      "SELECT 1 AS a FROM duckdb_temporary_files()",
      "SELECT 1 AS a FROM information_schema.tables",
      "SELECT 1 AS a FROM sqlite_master",
      "SELECT 1 AS a FROM pragma_storage_info('t')",
      "SELECT 1 AS a FROM pragma_database_size()",
      "SELECT 1 AS a FROM truncate_duckdb_logs()",
      "SELECT 1 AS a FROM disable_logging()",
      "SELECT 1 AS a FROM enable_profiling()",
      "SELECT 1 AS a FROM checkpoint()",
      "SELECT 1 AS a FROM force_checkpoint()",
      "SELECT 1 AS a FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
      "SELECT 1 AS a FROM read_blob('x.duckdb')",
      "SELECT 1 AS a FROM read_text('x.duckdb')",
      "SELECT 1 AS a FROM read_csv('x.duckdb')",
      "SELECT 1 AS a FROM read_text('/etc/hostname')",
      "SELECT 1 AS a FROM read_parquet('other.parquet')",
      "SELECT 1 AS a FROM 'other.csv'",
      "SELECT 1 AS a FROM glob('*')",
      "SELECT 1 AS a FROM sniff_csv('x.duckdb')",
      "SHOW TABLES",
      // Not a SELECT.
      "COPY t TO 'out.csv'",
      "EXPORT DATABASE 'out'",
      "ATTACH 'other.duckdb'",
      "CALL enable_logging(storage := 'stdout')",
      "PRAGMA enable_profiling",
      "SET enable_logging = true",
      "INSTALL httpfs",
      "CREATE TABLE w AS SELECT a FROM t",
      "CHECKPOINT",
      "EXPLAIN ANALYZE SELECT a FROM t",
      "SELECT a FROM t; COPY t TO 'out.csv'",
  };
  for (const std::string& attack : attacks) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const std::string message = MessageOf(attack);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << attack;
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << attack;
    EXPECT_NE(message, "") << attack;
    EXPECT_EQ(message.find("private"), std::string::npos) << attack << ": " << message;
  }
  const std::filesystem::directory_iterator files(".");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

// According to DuckDB's own list of its functions.
TEST_F(QueryCheckTest, NoHarmlessFunctionHasEffects) {
  DuckDbConnection connection = DuckDbConnection::InMemory("DuckDB", "");
  int num_functions = 0;
  connection.Stream(
      "SELECT DISTINCT function_name, function_type, CASE WHEN has_side_effects THEN 'effects' "
      "ELSE '' END FROM duckdb_functions() WHERE function_type IN ('scalar', 'aggregate', 'table', "
      "'pragma')",
      [&](const DuckDbChunk& chunk) {
        for (int64_t row = 0; row < chunk.num_rows(); ++row) {
          const auto text = [&](int column) {
            return std::string(TextOf(chunk.Values<duckdb_string_t>(column)[row]));
          };
          ++num_functions;
          if (text(2) == "effects") {
            EXPECT_FALSE(IsHarmlessFunction(text(0))) << text(0);
          }
          if (text(1) == "table" || text(1) == "pragma") {
            const std::set<std::string> numbers = {"seq_scan", "range", "generate_series",
                                                   "unnest"};
            EXPECT_EQ(IsHarmlessTableFunction(text(0)), numbers.contains(text(0))) << text(0);
          }
        }
      });
  EXPECT_GT(num_functions, 500);
}

TEST_F(QueryCheckTest, AcceptsWhatPeopleWrite) {
  for (
      const std::string query : {
          "SELECT * FROM t",
          "SELECT a, twice(b) AS b FROM plain_view JOIN t USING (a)",
          "SELECT a FROM t WHERE s LIKE 'pri%' AND s NOT ILIKE '%x' AND s ~ '.*' AND NOT a = 9",
          "SELECT a::VARCHAR AS a, TRY_CAST(s AS INTEGER) AS n, a + 1 - 2 * 3 / 4 % 5 AS x FROM t",
          "SELECT CASE WHEN a BETWEEN 0 AND 2 THEN 1 ELSE coalesce(a, 2) END AS a FROM t",
          "SELECT a, date_part('year', d) AS y, extract(month FROM d) AS m, d + INTERVAL 1 DAY AS "
          "e, "
          "date_trunc('month', d) AS f, date_diff('year', d, current_date) AS g, strftime(d, '%Y') "
          "AS h, monthname(d) AS i FROM t",
          "SELECT a, substring(s FROM 2 FOR 3) AS x, s || 'y' AS y, trim(s) AS z, upper(s) AS u, "
          "regexp_replace(s, '[0-9]', '') AS r, split_part(s, 'e', 1) AS p, s[1:2] AS q FROM t",
          "SELECT a, j->>'k' AS k, json_extract_string(j, '$.k') AS e FROM t",
          "SELECT a, l[1] AS f, len(l) AS n, list_sum(l) AS sum, list_filter(l, lambda x: x > 1) "
          "AS g, [x + 1 FOR x IN l] AS h, {'k': a}.k AS k FROM t",
          "SELECT count(*) AS a, avg(b) AS m, median(a) AS n, string_agg(s) AS t FROM t GROUP BY b",
          "SELECT a FROM t WHERE a > (SELECT min(b) FROM u) AND EXISTS (FROM u) AND b IN (SELECT b "
          "FROM u)",
          "SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) AS n, lag(a) OVER () AS p FROM "
          "t",
          "SELECT a FROM t ORDER BY s COLLATE de",
          "WITH c AS (SELECT * FROM t) SELECT a FROM c UNION SELECT b FROM c",
          "SELECT i AS a FROM range(3) r(i)",
          "VALUES (1), (2)",
          "PIVOT t ON b IN (1, 2) USING sum(a)",
      }) {
    EXPECT_NO_THROW(SurveyQuery({"", "x.duckdb", query})) << query;
  }
}

using Operations = std::vector<RowOperation>;

TEST_F(QueryCheckTest, TellsWhatAQueryDoesToRows) {
  using enum RowOperation;
  // Each row by itself.
  for (const std::string query :
       {"SELECT a, upper(s) AS s FROM t WHERE b > 1 ORDER BY a", "FROM plain_view",
        "WITH c AS (SELECT * FROM t) SELECT a FROM (SELECT a FROM c) WHERE a > 1",
        "SELECT a, twice(a) AS z FROM t", "SELECT len(l) AS a, list_sum(l) AS z FROM t"}) {
    EXPECT_EQ(OperationsOf(query), Operations{}) << query;
  }
  EXPECT_EQ(OperationsOf("SELECT a FROM t, range(10)"), Operations{kJoin});
  EXPECT_EQ(OperationsOf("SELECT a FROM join_view"), Operations{kJoin});
  EXPECT_EQ(OperationsOf("SELECT a FROM t ASOF JOIN u ON t.a >= u.c"), Operations{kJoin});
  EXPECT_EQ(OperationsOf("SELECT a FROM t POSITIONAL JOIN u"), Operations{kJoin});
  EXPECT_EQ(OperationsOf("SELECT a FROM t WHERE b IN (SELECT b FROM u)"), Operations{kJoin});
  EXPECT_EQ(OperationsOf("SELECT count(*) AS a FROM t GROUP BY b"), Operations{kAggregate});
  EXPECT_EQ(OperationsOf("SELECT DISTINCT a FROM t"), Operations{kDistinct});
  EXPECT_EQ(OperationsOf("SELECT rank() OVER (ORDER BY a) AS a FROM t"), Operations{kWindow});
  EXPECT_EQ(OperationsOf("SELECT a FROM t QUALIFY row_number() OVER () = 1"), Operations{kWindow});
  EXPECT_EQ(OperationsOf("SELECT unnest(l) AS a FROM t"), Operations{kUnnest});
  EXPECT_EQ(OperationsOf("SELECT a FROM t UNION ALL SELECT a FROM t"), Operations{kSetOperation});
  EXPECT_EQ(OperationsOf("SELECT a FROM t USING SAMPLE 10%"), Operations{kSample});
  EXPECT_EQ(OperationsOf("SELECT a FROM t TABLESAMPLE 10%"), Operations{kSample});
  EXPECT_EQ(OperationsOf("SELECT a FROM t LIMIT 2 OFFSET 1"), Operations{kLimit});
  EXPECT_EQ(OperationsOf("SELECT DISTINCT t.a FROM t JOIN u USING (b) LIMIT 3"),
            (Operations{kJoin, kDistinct, kLimit}));
  EXPECT_EQ(OperationsOf("WITH RECURSIVE c AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM c WHERE a "
                         "< 3) SELECT a FROM c"),
            Operations{kRecursion});
  EXPECT_EQ(SurveyQuery({"people.csv", "", ""}), QueryShape{});
}

TEST_F(QueryCheckTest, TheReportSaysIt) {
  Attribute a;
  a.name = "a";
  a.size = 10;
  const Domain domain({a});
  const ReadReport report =
      SurveyTable({"", "x.duckdb", "SELECT a FROM t, range(10) LIMIT 20"}, domain, {});
  EXPECT_EQ(report.num_rows_read, 20);
  EXPECT_EQ(NotesOf(report, domain),
            (std::vector<std::string>{
                "the query joins tables or subqueries and keeps a limited number of rows: what is "
                "protected is one row of its result, not one row of a table"}));
  EXPECT_EQ(NotesOf(SurveyTable({"", "x.duckdb", "SELECT a FROM t"}, domain, {}), domain),
            std::vector<std::string>{});
  EXPECT_EQ(InWords(QueryShape{{RowOperation::kJoin, RowOperation::kWindow, RowOperation::kLimit}}),
            "joins tables or subqueries, computes columns from several rows and keeps a limited "
            "number of rows");
}

}  // namespace
}  // namespace residua
