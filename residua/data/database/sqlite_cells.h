#pragma once

#include "residua/data/database/cell_sql.h"

namespace residua {

// CellSqlOf in the SQL of SQLite, whose values each have a type of their own.
CellSql SqliteCellSql(const Attribute& attribute, const NullValues& null_values,
                      const std::string& column);

}  // namespace residua
