#pragma once

#include <memory>
#include <string>

#include "residua/data/arrow_stream.h"

namespace residua {

// The rows of a query on a database that is read through its ADBC driver, a shared library that is
// loaded for it. The query runs in a transaction of its own that can write nothing, and sees one
// state of the database. A password comes from the environment or from the driver's own files, and
// is in no message.
//
// The driver of KIND, libadbc_driver_KIND.so, is looked for in the folders of the environment
// variable RESIDUA_ADBC_DRIVERS, in the Python package adbc_driver_KIND beside this library's own
// package, in the environment of $VIRTUAL_ENV or $CONDA_PREFIX, and where the system looks for
// libraries.
class AdbcRows {
 public:
  // Error{kIo} if there is no driver, no connection, or if the query fails; `url` passed
  // CheckDatabaseUrl.
  AdbcRows(const std::string& url, const std::string& query);
  AdbcRows(const AdbcRows&) = delete;
  AdbcRows& operator=(const AdbcRows&) = delete;
  ~AdbcRows();

  ArrowArrayStream* stream();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace residua
