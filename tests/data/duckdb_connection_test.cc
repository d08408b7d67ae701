#include "residua/data/duckdb_connection.h"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "tests/data/source_test.h"

namespace residua {
namespace {

class DuckDbConnectionTest : public SourceTest {};

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
TEST_F(DuckDbConnectionTest, WritesNoTemporaryFiles) {
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

TEST_F(DuckDbConnectionTest, QueriesReadTheirDatabaseAndNothingElse) {
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

TEST_F(DuckDbConnectionTest, SaysWhatToDo) {
  const Attribute a = Integers("a", 0, 9);
  const std::string no_database =
      ": is not a database of DuckDB; name a file of rows as source, with the query, and one of "
      "SQLite as sqlite:FILE";
  Write("t.csv", "a\n1\n");
  Write("text.duckdb", "no database, and long enough for the header that one has");
  Write("sqlite.db", std::string("SQLite format 3") + std::string(4096, '\0'));
  Sql("", {"COPY (SELECT 1 AS a) TO 't.parquet'"});
  for (const std::string file : {"t.csv", "text.duckdb", "t.parquet", "sqlite.db"}) {
    EXPECT_EQ(MessageOf({"", file, "SELECT a FROM data"}, a), file + no_database);
  }
  Sql("x.duckdb", {"CREATE TABLE t AS SELECT 1 AS a"});
  const std::string no_table =
      "Table with name dat does not exist; select from data, which is the file, or from a table "
      "of the database";
  EXPECT_EQ(MessageOf({"t.csv", "", "SELECT a FROM dat"}, a), "t.csv: " + no_table);
  EXPECT_EQ(MessageOf({"", "x.duckdb", "SELECT a FROM dat"}, a), "x.duckdb: " + no_table);
  EXPECT_TRUE(
      MessageOf({"t.csv", "", "SELECT b FROM data"}, a).ends_with("; name a column of the table"));
  Write("broken.json", "[{\"a\": 1}, {");
  EXPECT_TRUE(MessageOf({"broken.json", "", ""}, a).ends_with("; correct the file"));
  Write("short.parquet", "PAR1");
  EXPECT_TRUE(
      MessageOf({"short.parquet", "", ""}, a).ends_with("; copy it again, or name a Parquet file"));
}

TEST_F(DuckDbConnectionTest, QueriesReadTheirFileAsTheTableData) {
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

}  // namespace
}  // namespace residua
