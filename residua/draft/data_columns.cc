#include "residua/draft/data_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/base/stop.h"
#include "residua/data/arrow_stream.h"

namespace residua {
namespace {

std::vector<DataColumn> ColumnsOf(const Relation& relation) {
  std::map<std::string, int> count_of_name;
  for (const DuckDbColumn& column : relation.columns) ++count_of_name[column.name];
  std::vector<DataColumn> columns;
  for (size_t k = 0; k < relation.columns.size(); ++k) {
    const DuckDbColumn& column = relation.columns[k];
    columns.push_back({column.name,
                       column.type,
                       ColumnTypeOf(column.type),
                       relation.expressions[k],
                       count_of_name[column.name],
                       {}});
  }
  return columns;
}

// The types that DuckDB finds in JSON tell what is nested; the values are then read as text.
std::string UseJsonText(const std::string& path, std::vector<DataColumn>* columns) {
  std::vector<std::string> names;
  for (DataColumn& column : *columns) {
    if (!column.IsRead()) continue;
    column.type = ColumnType::kText;
    names.push_back(column.name);
  }
  return JsonTextRelation(path, names).from;
}

std::string_view ReadAs(ColumnType type) {
  switch (type) {
    case ColumnType::kInteger:
      return "BIGINT";
    case ColumnType::kFloat:
      return "DOUBLE";
    case ColumnType::kWideNumber:
    case ColumnType::kBoolean:
    case ColumnType::kText:
    case ColumnType::kDate:
    case ColumnType::kTimestamp:
    case ColumnType::kOther:
      return "VARCHAR";
    case ColumnType::kNested:
      break;
  }
  RESIDUA_CHECK(false);
}

template <typename Value, typename Add>
void AddValues(const DuckDbChunk& chunk, int k, ColumnSummary* summary, const Add& add) {
  const Value* values = chunk.Values<Value>(k);
  const uint64_t* validity = chunk.Validity(k);
  for (int64_t row = 0; row < chunk.num_rows(); ++row) {
    if (IsMissing(validity, row)) {
      summary->AddMissing();
    } else {
      add(values[row]);
    }
  }
}

void AddChunk(const DuckDbChunk& chunk, int k, DataColumn* column) {
  ColumnSummary& summary = column->summary;
  switch (column->type) {
    case ColumnType::kInteger:
      AddValues<int64_t>(chunk, k, &summary, [&](int64_t value) { summary.Add(value); });
      return;
    case ColumnType::kFloat:
      AddValues<double>(chunk, k, &summary, [&](double value) { summary.Add(value); });
      return;
    case ColumnType::kWideNumber:
    case ColumnType::kText:
      AddValues<duckdb_string_t>(chunk, k, &summary,
                                 [&](const auto& text) { summary.Add(TextOf(text)); });
      return;
    case ColumnType::kDate:
    case ColumnType::kTimestamp:
      AddValues<duckdb_string_t>(chunk, k, &summary,
                                 [&](const auto& text) { summary.AddDate(TextOf(text)); });
      return;
    case ColumnType::kBoolean:
    case ColumnType::kOther:
      AddValues<duckdb_string_t>(chunk, k, &summary,
                                 [&](const auto& text) { summary.AddLabel(TextOf(text)); });
      return;
    case ColumnType::kNested:
      break;
  }
  RESIDUA_CHECK(false);
}

void CheckAnyIsRead(const std::string& file, const std::vector<DataColumn>& columns) {
  if (std::ranges::any_of(columns, &DataColumn::IsRead)) return;
  Fail(ErrorKind::kBadInput,
       "{}: no column can be read; each needs a name of its own and plain values", file);
}

// Reads the columns of the relation whose values can be read, once. `file` names the data.
void ReadColumns(const std::string& file, DuckDbConnection* connection, const std::string& from,
                 const std::stop_token& stop, std::vector<DataColumn>* columns) {
  std::vector<DataColumn*> read;
  std::vector<std::string> selected;
  for (DataColumn& column : *columns) {
    if (!column.IsRead()) continue;
    read.push_back(&column);
    selected.push_back(fmt::format("CAST({} AS {})", column.expression, ReadAs(column.type)));
  }
  int64_t num_rows = 0;
  connection->Stream(fmt::format("SELECT {} FROM {}", fmt::join(selected, ", "), from),
                     [&](const DuckDbChunk& chunk) {
                       CheckNotStopped(stop);
                       num_rows += chunk.num_rows();
                       for (size_t k = 0; k < read.size(); ++k)
                         AddChunk(chunk, static_cast<int>(k), read[k]);
                     });
  if (num_rows == 0) {
    Fail(ErrorKind::kBadInput,
         "{}: there are no rows to look at; name a file that has some, or write the spec by hand",
         file);
  }
}

// The columns of a stream, whose types DuckDB tells without reading a row.
std::vector<DataColumn> ColumnsOf(const std::string& file, ArrowArrayStream* rows) {
  const std::vector<std::string> names = ColumnNamesOf(rows);
  if (names.empty()) return {};
  std::vector<size_t> all(names.size());
  std::iota(all.begin(), all.end(), size_t{0});
  ArrowProjection whole(rows, all);
  DuckDbConnection connection = DuckDbConnection::InMemory(file, "");
  connection.ViewArrow("rows_in_memory", whole.stream());
  // DuckDB renames columns whose names it cannot tell apart; those of the stream count.
  Relation relation = NamedRelation(connection, "rows_in_memory");
  for (size_t k = 0; k < names.size(); ++k) relation.columns[k].name = names[k];
  return ColumnsOf(relation);
}

}  // namespace

std::vector<DataColumn> ReadDataColumns(ArrowArrayStream* rows, const std::stop_token& stop) {
  const std::string file = "the data";
  std::vector<DataColumn> columns = ColumnsOf(file, rows);
  CheckAnyIsRead(file, columns);
  std::vector<size_t> read;
  for (size_t k = 0; k < columns.size(); ++k) {
    if (columns[k].IsRead()) read.push_back(k);
  }
  // Of fewer columns, DuckDB may rename others.
  ArrowProjection projection(rows, read);
  DuckDbConnection connection = DuckDbConnection::InMemory(file, "");
  connection.ViewArrow("rows_in_memory", projection.stream());
  const Relation relation = NamedRelation(connection, "rows_in_memory");
  for (size_t k = 0; k < read.size(); ++k) columns[read[k]].expression = relation.expressions[k];
  ReadColumns(file, &connection, relation.from, stop, &columns);
  return columns;
}

std::vector<DataColumn> ReadDataColumns(const std::string& path, const std::stop_token& stop) {
  CheckIsFile(path);
  const FileFormat format = FormatOf(path);
  const std::string file = ShownText(path);
  DuckDbConnection connection = DuckDbConnection::InMemory(file, path);
  Relation relation;
  switch (format) {
    case FileFormat::kCsv:
      relation = CsvRelation(connection, path);
      break;
    case FileFormat::kParquet:
      relation = ParquetRelation(connection, path);
      break;
    case FileFormat::kJson:
      relation = FoundJsonRelation(connection, path, JsonRows::kAll);
      break;
  }
  std::vector<DataColumn> columns = ColumnsOf(relation);
  CheckAnyIsRead(file, columns);
  if (format == FileFormat::kJson) relation.from = UseJsonText(path, &columns);
  ReadColumns(file, &connection, relation.from, stop, &columns);
  return columns;
}

}  // namespace residua
