#include "residua/data/relation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/data/csv_header.h"

namespace residua {
namespace {

// Nothing is read from the file's name: otherwise, in a folder a=7, column a would be 7 in all
// rows.
constexpr std::string_view kThisFileAlone =
    "hive_partitioning = false, filename = false, union_by_name = false";

// The file's name in small letters, without the ending of its compression.
std::string PlainName(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view compressed : {".gz", ".zst"}) {
    if (name.ends_with(compressed)) name.resize(name.size() - compressed.size());
  }
  return name;
}

}  // namespace

FileFormat FormatOf(const std::string& path) {
  const std::string name = PlainName(path);
  const auto ends_with_any = [&](std::initializer_list<std::string_view> endings) {
    return std::any_of(endings.begin(), endings.end(),
                       [&](std::string_view ending) { return name.ends_with(ending); });
  };
  if (ends_with_any({".csv", ".tsv", ".txt"})) return FileFormat::kCsv;
  if (ends_with_any({".parquet", ".pq"})) return FileFormat::kParquet;
  if (ends_with_any({".json", ".jsonl", ".ndjson"})) return FileFormat::kJson;
  if (ends_with_any({".duckdb", ".db", ".ddb"})) {
    Fail(ErrorKind::kBadInput,
         "{}: a database needs a query; in the spec, set database and query, not source",
         ShownText(path));
  }
  Fail(ErrorKind::kBadInput,
       "{}: files of this kind cannot be read; use .csv, .tsv, .parquet, .json, .jsonl or .ndjson",
       ShownText(path));
}

void CheckIsFile(const std::string& path) {
  if (path.find("://") != std::string::npos) {
    Fail(ErrorKind::kRefused, "{}: nothing is read over the network; download it and name the file",
         ShownText(path));
  }
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    Fail(ErrorKind::kIo, "{}: no such file; check the path", ShownText(path));
  }
  if (error) Fail(ErrorKind::kIo, "{}: {}", ShownText(path), error.message());
  if (status.type() == std::filesystem::file_type::directory) {
    Fail(ErrorKind::kBadInput, "{}: a directory; name one file in it", ShownText(path));
  }
}

Relation CsvRelation(DuckDbConnection& connection, const std::string& path) {
  // The first line unchanged: with a delimiter that no text has, and without quotes.
  const std::optional<std::string> line = connection.FirstText(fmt::format(
      "SELECT line FROM read_csv({}, auto_detect = false, columns = {{'line': 'VARCHAR'}}, "
      "delim = chr(1), quote = '', escape = '', header = false, strict_mode = false, {}) LIMIT 1",
      SqlPath(path), kThisFileAlone));
  if (!line.has_value()) {
    Fail(ErrorKind::kBadInput, "{}: the file is empty; its first line must name the columns",
         ShownText(path));
  }
  const CsvHeader header =
      PlainName(path).ends_with(".tsv") ? ParseTsvHeader(*line) : ParseCsvHeader(*line);
  Relation relation;
  std::vector<std::string> types;
  for (size_t k = 0; k < header.names.size(); ++k) {
    relation.columns.push_back({header.names[k], "VARCHAR"});
    relation.expressions.push_back(fmt::format("c{}", k));
    types.push_back(fmt::format("c{}: 'VARCHAR'", k));
  }
  // Everything is stated and nothing sniffed: sniffing may skip rows that look unlike the others.
  relation.from = fmt::format(
      "read_csv({}, auto_detect = false, columns = {{{}}}, delim = {}, quote = '\"', escape = "
      "'\"', "
      "header = true, skip = 0, comment = '', nullstr = '', strict_mode = true, null_padding = "
      "false, {})",
      SqlPath(path), fmt::join(types, ", "), SqlText(std::string(1, header.delimiter)),
      kThisFileAlone);
  return relation;
}

Relation NamedRelation(DuckDbConnection& connection, std::string from) {
  Relation relation{std::move(from), {}, {}};
  relation.columns = connection.Describe("SELECT * FROM " + relation.from);
  for (const DuckDbColumn& column : relation.columns) {
    relation.expressions.push_back(SqlName(column.name));
  }
  return relation;
}

std::string ParquetRows(const std::string& path) {
  return fmt::format("read_parquet({}, {})", SqlPath(path), kThisFileAlone);
}

Relation ParquetRelation(DuckDbConnection& connection, const std::string& path) {
  return NamedRelation(connection, ParquetRows(path));
}

Relation FoundJsonRelation(DuckDbConnection& connection, const std::string& path, JsonRows rows) {
  return NamedRelation(connection, fmt::format("read_json({}, {}{})", SqlPath(path), kThisFileAlone,
                                               rows == JsonRows::kAll ? ", sample_size = -1" : ""));
}

Relation JsonTextRelation(const std::string& path, const std::vector<std::string>& names) {
  Relation relation;
  std::vector<std::string> types;
  for (const std::string& name : names) {
    relation.columns.push_back({name, "VARCHAR"});
    relation.expressions.push_back(SqlName(name));
    types.push_back(SqlText(name) + ": 'VARCHAR'");
  }
  relation.from = fmt::format("read_json({}, columns = {{{}}}, {})", SqlPath(path),
                              fmt::join(types, ", "), kThisFileAlone);
  return relation;
}

Relation FileRelation(DuckDbConnection& connection, const std::string& path) {
  switch (FormatOf(path)) {
    case FileFormat::kCsv:
      return CsvRelation(connection, path);
    case FileFormat::kParquet:
      return ParquetRelation(connection, path);
    case FileFormat::kJson: {
      std::vector<std::string> names;
      for (const DuckDbColumn& column :
           FoundJsonRelation(connection, path, JsonRows::kAll).columns) {
        names.push_back(column.name);
      }
      return JsonTextRelation(path, names);
    }
  }
  RESIDUA_CHECK(false);
}

std::string Subquery(std::string query) {
  while (!query.empty() &&
         (query.back() == ';' || std::isspace(static_cast<unsigned char>(query.back())))) {
    query.pop_back();
  }
  // The query has lines of its own, so that a comment at its end does not reach further.
  return "(\n" + query + "\n)";
}

ColumnType ColumnTypeOf(const std::string& sql_type) {
  static const std::set<std::string, std::less<>> integers = {
      "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"};
  static const std::set<std::string, std::less<>> wide = {"UBIGINT", "HUGEINT", "UHUGEINT",
                                                          "BIGNUM"};
  static const std::set<std::string, std::less<>> texts = {"VARCHAR", "JSON", "\"NULL\""};
  if (sql_type.ends_with(']') || sql_type.starts_with("STRUCT(") || sql_type.starts_with("MAP(") ||
      sql_type.starts_with("UNION(")) {
    return ColumnType::kNested;
  }
  if (integers.contains(sql_type)) return ColumnType::kInteger;
  if (wide.contains(sql_type) || sql_type.starts_with("DECIMAL(")) return ColumnType::kWideNumber;
  if (sql_type == "FLOAT" || sql_type == "DOUBLE") return ColumnType::kFloat;
  if (sql_type == "DATE") return ColumnType::kDate;
  if (sql_type.starts_with("TIMESTAMP")) return ColumnType::kTimestamp;
  if (sql_type == "BOOLEAN") return ColumnType::kBoolean;
  if (texts.contains(sql_type) || sql_type.starts_with("ENUM(")) return ColumnType::kText;
  return ColumnType::kOther;
}

}  // namespace residua
