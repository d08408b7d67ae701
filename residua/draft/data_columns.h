#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "residua/data/relation.h"
#include "residua/draft/column_summary.h"

struct ArrowArrayStream;

namespace residua {

// A column of data, and what was found in it.
struct DataColumn {
  std::string name;
  std::string sql_type;
  ColumnType type = ColumnType::kText;
  std::string expression;
  int num_same_name = 1;
  ColumnSummary summary;

  bool IsRead() const { return !name.empty() && num_same_name == 1 && type != ColumnType::kNested; }
};

// The columns of a file, or of a stream of rows, with a summary of those that can be read. Every row is
// read once. Error{kBadInput} if no column can be read, or if there are no rows.
std::vector<DataColumn> ReadDataColumns(const std::string& path, const std::stop_token& stop);
std::vector<DataColumn> ReadDataColumns(ArrowArrayStream* rows, const std::stop_token& stop);

}  // namespace residua
