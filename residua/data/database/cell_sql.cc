#include "residua/data/database/cell_sql.h"

#include "residua/base/error.h"
#include "residua/data/database/postgres_cells.h"
#include "residua/data/database/sqlite_cells.h"

namespace residua {

std::string_view ReadTypeOf(SqlColumnType type) {
  switch (type) {
    case SqlColumnType::kInteger:
      return "BIGINT";
    case SqlColumnType::kReal:
      return "FLOAT";
    case SqlColumnType::kDouble:
      return "DOUBLE";
    case SqlColumnType::kBoolean:
      return "BOOLEAN";
    case SqlColumnType::kDate:
      return "DATE";
    case SqlColumnType::kTimestamp:
      return "TIMESTAMP";
    case SqlColumnType::kZonedTimestamp:
      return "TIMESTAMP WITH TIME ZONE";
    case SqlColumnType::kNumeric:
    case SqlColumnType::kText:
    case SqlColumnType::kPaddedText:
    case SqlColumnType::kStorageClasses:
      return "VARCHAR";
  }
  RESIDUA_CHECK(false);
}

CellSql CellSqlOf(const Attribute& attribute, const NullValues& null_values, SqlColumnType type,
                  const std::string& column) {
  if (type == SqlColumnType::kStorageClasses) return SqliteCellSql(attribute, null_values, column);
  return PostgresCellSql(attribute, null_values, type, column);
}

}  // namespace residua
