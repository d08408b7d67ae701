#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace residua {

// Values as SQL writes them, for databases that are asked to compare with them.

std::string SqlInteger(int64_t value);

// A text without the character 0, as PostgreSQL reads it whatever its settings are. SqlText
// (duckdb_connection.h) is for SQLite.
std::string PostgresText(std::string_view text);

// Not NaN. SQLite may read decimals as a neighbouring double; whole numbers and their quotients by
// powers of two are exact.
std::string SqliteDouble(double value);

}  // namespace residua
