#pragma once

#include <memory>
#include <string>

#include "residua/data/arrow_stream.h"

namespace residua {

// The rows of queries on a database that is read through its ADBC driver, a shared library that is
// loaded for it. The queries run in a transaction of their own that can write nothing, and each
// sees one state of the database; in PostgreSQL all see the same. A password comes from the
// environment or from the driver's own files, and is in no message.
//
// The driver of KIND, libadbc_driver_KIND.so, is looked for in the folders of the environment
// variable RESIDUA_ADBC_DRIVERS, in the Python package adbc_driver_KIND beside this library's own
// package, in the environment of $VIRTUAL_ENV or $CONDA_PREFIX, and where the system looks for
// libraries.
class AdbcRows {
 public:
  // Error{kIo} if there is no driver or no connection; `url` passed CheckDatabaseUrl.
  explicit AdbcRows(const std::string& url);
  AdbcRows(const AdbcRows&) = delete;
  AdbcRows& operator=(const AdbcRows&) = delete;
  ~AdbcRows();

  // The rows of the query, until the next one runs. Error{kIo} if it fails.
  ArrowArrayStream* Query(const std::string& query);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace residua
