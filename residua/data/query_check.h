#pragma once

#include <string>
#include <string_view>

#include "residua/data/duckdb_connection.h"
#include "residua/data/query_shape.h"

namespace residua {

// Whether a query may call the function: allowed are functions, operators and aggregates that
// return a value, the same for the same arguments (except those that tell the time), and do nothing
// else. DuckDB has others, which write a log, read files, or change settings even where the
// configuration is locked.
bool IsHarmlessFunction(std::string_view name);
// The same for functions that are read like a table: they give rows of a table of the database, or
// numbers.
bool IsHarmlessTableFunction(std::string_view name);

// What `select` does, by the plan that DuckDB makes of it: names are resolved, and views, macros
// and generated columns replaced by what they stand for. Nothing is run. Error{kRefused} names the
// first function that is not known to be harmless.
QueryShape CheckQuery(const std::string& name, DuckDbConnection& connection,
                      const std::string& select);

}  // namespace residua
