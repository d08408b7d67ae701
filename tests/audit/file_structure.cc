#include "tests/audit/file_structure.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "residua/data/duckdb_connection.h"
#include "residua/files/file.h"

namespace residua::audit {
namespace {

// Each row of the result as one line.
std::string Lines(DuckDbConnection* connection, const std::string& columns,
                  const std::string& from) {
  std::string lines;
  connection->Stream("SELECT concat_ws('|', " + columns + ") FROM " + from,
                     [&](const DuckDbChunk& chunk) {
                       for (int64_t row = 0; row < chunk.num_rows(); ++row) {
                         lines += std::string(TextOf(chunk.Values<duckdb_string_t>(0)[row])) + "\n";
                       }
                     });
  return lines;
}

// An interval is as noisy as its estimate.
bool IsNoisy(const std::string& column) {
  return column == "estimate" || column == "ci_lower" || column == "ci_upper";
}

// A digest is as noisy as what it covers: of these keys only the length of the value is shown.
constexpr const char* kNoisyKeys = "('residua_row_groups', 'residua_seal', 'residua_data')";

// The columns of a row that are not noisy.
std::string RowColumns(const std::vector<DuckDbColumn>& columns) {
  std::string shown = "'row'";
  for (const DuckDbColumn& column : columns) {
    const std::string name = SqlName(column.name);
    if (column.name == "value" || column.name == "wide_value") {
      shown += ", " + name + " IS NULL";
    } else if (!IsNoisy(column.name)) {
      shown += ", " + name + "::VARCHAR";
    }
  }
  return shown;
}

bool HasColumn(const std::vector<DuckDbColumn>& columns, const std::string& name) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const DuckDbColumn& column) { return column.name == name; });
}

std::string StructureOfParquet(const std::string& name) {
  DuckDbConnection connection = DuckDbConnection::InMemory(name, name);
  const std::string file = "(" + SqlText(name) + ")";
  std::string structure =
      Lines(&connection, "name, type, num_children, logical_type, repetition_type",
            "parquet_schema" + file);
  structure += Lines(&connection,
                     "decode(key), CASE WHEN decode(key) IN " + std::string(kNoisyKeys) +
                         " THEN octet_length(value)::VARCHAR ELSE decode(value) END",
                     "parquet_kv_metadata" + file);
  structure += Lines(&connection, "num_rows, num_row_groups, format_version, created_by",
                     "parquet_file_metadata" + file);
  structure +=
      Lines(&connection,
            "row_group_id, row_group_num_rows, path_in_schema, num_values, type, compression, "
            "stats_null_count",
            "parquet_metadata" + file);
  const std::string from = "read_parquet" + file;
  const std::vector<DuckDbColumn> columns = connection.Describe("SELECT * FROM " + from);
  // Tables are not compressed: not even where a page begins may differ.
  if (HasColumn(columns, "estimate")) {
    structure +=
        Lines(&connection,
              "encodings, dictionary_page_offset, data_page_offset, total_compressed_size, "
              "stats_min_value, stats_max_value, stats_null_count",
              "parquet_metadata" + file);
  }
  return structure + Lines(&connection, RowColumns(columns), from);
}

std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line + ",");
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

// For files whose labels contain no commas and no quotes, and whose numbers are rounded: of noisy
// numbers it shows how many decimals they have.
std::string StructureOfCsv(const std::string& text) {
  std::istringstream stream(text);
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> names = Fields(line);
  std::string structure = line + "\n";
  while (std::getline(stream, line)) {
    const std::vector<std::string> fields = Fields(line);
    structure += std::to_string(fields.size());
    for (size_t k = 0; k < fields.size(); ++k) {
      const bool is_noisy = k < names.size() && IsNoisy(names[k]);
      const size_t point = fields[k].find('.');
      const size_t decimals = point == std::string::npos ? 0 : fields[k].size() - point - 1;
      structure += "," + (is_noisy ? std::to_string(decimals) : fields[k]);
    }
    structure += "\n";
  }
  return structure;
}

}  // namespace

std::string StructureOfFolder(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    paths.insert(entry.path());
  }
  std::string structure;
  for (const std::filesystem::path& path : paths) {
    structure += path.lexically_relative(folder).string() + "\n";
    if (std::filesystem::is_directory(path)) continue;
    if (path.extension() == ".parquet") {
      structure += StructureOfParquet(path.string());
    } else if (path.extension() == ".csv") {
      structure += StructureOfCsv(ReadFile(path));
    } else {
      structure += ReadFile(path) + "\n";
    }
  }
  return structure;
}

}  // namespace residua::audit
