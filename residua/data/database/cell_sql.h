#pragma once

#include <optional>
#include <string>
#include <vector>

#include "residua/data/null_values.h"
#include "residua/model/attribute.h"
#include "residua/model/cell_finder.h"

namespace residua {

// What a column of a database holds. All but kStorageClasses are types of PostgreSQL.
enum class SqlColumnType {
  kInteger,
  kReal,
  kDouble,
  kNumeric,
  kBoolean,
  kText,
  kPaddedText,  // character(n): blanks at its end are part of the value
  kDate,
  kTimestamp,
  kZonedTimestamp,
  kStorageClasses,  // of SQLite: every value has a type of its own
};

// The type that rows of such a column have when they are read, as SQL writes it.
std::string_view ReadTypeOf(SqlColumnType type);

// An SQL expression that tells, of one value, what CellFinder and NullValues tell of it when its
// row is read. `outcomes` lists all that there is to tell, `sql` gives the number of one: a cell, or
// why the value has none. A missing value is Fault::kNan. Nothing: a value whose cell this SQL
// cannot tell, such as a text that may or may not be a listed number; it has no cell, and whoever
// gets it must not go on. Which policy a value falls under is not for SQL to say.
struct CellSql {
  std::string sql;
  std::vector<std::optional<FoundCell>> outcomes;
};

// `column` is an SQL name or expression. Error{kBadInput} where SQL cannot tell the cells.
CellSql CellSqlOf(const Attribute& attribute, const NullValues& null_values, SqlColumnType type,
                  const std::string& column);

}  // namespace residua
