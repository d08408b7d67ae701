#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace residua {

// Where a database is that is read through an ADBC driver: postgresql://HOST/NAME, or sqlite:FILE.
// Every other text is the path of a DuckDB file.
bool IsDatabaseUrl(std::string_view database);

// Error{kRefused} for a URL with a password, whose text the message does not repeat;
// Error{kBadInput} for the URL of a kind that cannot be read.
void CheckDatabaseUrl(const std::string& database);

// The database with its path, if it has one, as `rebase` gives it: that of a DuckDB or SQLite file.
std::string RebasedDatabase(const std::string& database,
                            const std::function<std::string(const std::string&)>& rebase);

}  // namespace residua
