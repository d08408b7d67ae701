#include "residua/ledger/sqlite_statement.h"

#include "residua/base/error.h"

namespace residua {

void FailOfSqlite(const std::string& name, sqlite3* database) {
  const int code = sqlite3_errcode(database);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    Fail(ErrorKind::kIo, "{}: the ledger is locked by another process; try again when it is done",
         name);
  }
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) {
    Fail(ErrorKind::kRefused,
         "{}: is not a ledger, or is damaged; restore it from a copy: without it no "
         "budget can be spent",
         name);
  }
  const char* const message = sqlite3_errmsg(database);
  // SQLite writes its journal beside the file.
  if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN || code == SQLITE_PERM) {
    Fail(ErrorKind::kIo,
         "{}: the ledger cannot be used: {}; make it a file that can be written, in a folder that "
         "can be written",
         name, message);
  }
  if (code == SQLITE_FULL) {
    Fail(ErrorKind::kIo, "{}: the ledger cannot be used: {}; make room on its disk", name, message);
  }
  Fail(ErrorKind::kIo, "{}: the ledger cannot be used: {}", name, message);
}

}  // namespace residua
