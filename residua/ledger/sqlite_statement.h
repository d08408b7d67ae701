#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace residua {

// Throws what SQLite says is wrong with the ledger `name`, as an Error.
[[noreturn]] void FailOfSqlite(const std::string& name, sqlite3* database);

// One statement on the ledger `name`, prepared, and finalised when it is destroyed.
class Statement {
 public:
  Statement(const std::string& name, sqlite3* database, const char* sql)
      : name_(name), database_(database) {
    if (sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr) != SQLITE_OK) {
      FailOfSqlite(name, database);
    }
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  void Bind(int index, std::string_view text) {
    sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
  }
  void Bind(int index, double value) { sqlite3_bind_double(statement_, index, value); }
  void Bind(int index, int64_t value) { sqlite3_bind_int64(statement_, index, value); }

  // True while there is a row.
  bool Step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) FailOfSqlite(name_, database_);
    return code == SQLITE_ROW;
  }

  int64_t Integer(int column) const { return sqlite3_column_int64(statement_, column); }
  double Real(int column) const { return sqlite3_column_double(statement_, column); }
  std::string Text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return text == nullptr ? "" : text;
  }

 private:
  const std::string& name_;
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace residua
