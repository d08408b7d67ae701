#pragma once

#include "residua/data/database/cell_sql.h"

namespace residua {

// CellSqlOf in the SQL of PostgreSQL; `type` is one of its types.
CellSql PostgresCellSql(const Attribute& attribute, const NullValues& null_values,
                        SqlColumnType type, const std::string& column);

}  // namespace residua
