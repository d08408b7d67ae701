#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "residua/data/arrow_stream.h"
#include "residua/data/database/abandonable_thread.h"

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
//
// When `stop` asks to stop, the database is told to cancel what it does for this, by the thread that
// asks, before asking returns. What the database still does not end after seconds is left alone: a
// driver that cannot cancel, such as SQLite's, goes on until its statement is done, and nothing of
// it is used. Whoever waits for rows gets Error{kStopped}, or a stream that fails.
class AdbcRows {
 public:
  // Error{kIo} if there is no driver or no connection; `url` passed CheckDatabaseUrl.
  AdbcRows(const std::string& url, const std::stop_token& stop);
  AdbcRows(const AdbcRows&) = delete;
  AdbcRows& operator=(const AdbcRows&) = delete;
  ~AdbcRows();

  // The rows of the query, until the next one runs. Error{kIo} if it fails.
  ArrowArrayStream* Query(const std::string& query);

  // No row is wanted any more: cancels as a stop does. Whoever waits for rows gets a stream that
  // fails.
  void GiveUp();

 private:
  struct State;
  using Stop = std::stop_callback<std::function<void()>>;

  // Runs a call that may take long, and that owns what it uses.
  void Run(std::function<void()> call);
  // What a function of the stream answers.
  template <typename Part>
  int Ask(int (*ArrowArrayStream::*function)(ArrowArrayStream*, Part*), Part* out);
  static int GetSchema(ArrowArrayStream* stream, ArrowSchema* out);
  static int GetNext(ArrowArrayStream* stream, ArrowArray* out);

  std::shared_ptr<State> state_;
  AbandonableThread thread_;
  const std::stop_token stop_;
  ArrowArrayStream rows_;
  std::string fault_;            // of rows_
  std::optional<Stop> on_stop_;  // the last: its end waits until the database was told
};

}  // namespace residua
