#pragma once

#include <string>
#include <vector>

#include "residua/data/duckdb_connection.h"

namespace residua {

enum class FileFormat { kCsv, kParquet, kJson };

// The columns of a source, each with the SQL that names it, and what to SELECT them FROM.
struct Relation {
  std::string from;
  std::vector<DuckDbColumn> columns;
  std::vector<std::string> expressions;
};

// The format, by the ending of the name. Error{kBadInput} lists the endings that can be read.
FileFormat FormatOf(const std::string& path);

// Error unless `path` is a file on this machine.
void CheckIsFile(const std::string& path);

// Every column is text; the first line names them. The ending .tsv says that tabs separate them.
Relation CsvRelation(DuckDbConnection& connection, const std::string& path);
// The columns and types that DuckDB finds in `from`.
Relation NamedRelation(DuckDbConnection& connection, std::string from);
// What to SELECT FROM for the rows of one Parquet file, and nothing from its name.
std::string ParquetRows(const std::string& path);
Relation ParquetRelation(DuckDbConnection& connection, const std::string& path);

// Whether names and types come from the first rows or from all rows.
enum class JsonRows { kFirst, kAll };
Relation FoundJsonRelation(DuckDbConnection& connection, const std::string& path, JsonRows rows);
// These columns, read as text, so that no row's type depends on the others.
Relation JsonTextRelation(const std::string& path, const std::vector<std::string>& names);

// All columns of a file; those of JSON are text.
Relation FileRelation(DuckDbConnection& connection, const std::string& path);

// The query as a part of another, in parentheses.
std::string Subquery(std::string query);

// What the values of an SQL type are.
enum class ColumnType {
  kInteger,     // fits int64_t
  kWideNumber,  // an exact number that may not fit: read as text, it loses no digit
  kFloat,
  kBoolean,
  kText,  // may hold numbers
  kDate,
  kTimestamp,
  kOther,   // times of day and more: only their text is read
  kNested,  // lists and structs, which are not read
};
ColumnType ColumnTypeOf(const std::string& sql_type);

}  // namespace residua
