#include "residua/data/duckdb_connection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/shown_text.h"
#include "residua/data/arrow_stream.h"

namespace residua {
namespace {

struct Prepared {
  duckdb_prepared_statement statement = nullptr;
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() { duckdb_destroy_prepare(&statement); }
};

struct Result {
  duckdb_result result = {};
  Result() = default;
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() { duckdb_destroy_result(&result); }
};

struct Chunk {
  duckdb_data_chunk chunk;
  explicit Chunk(duckdb_data_chunk fetched) : chunk(fetched) {}
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk() { duckdb_destroy_data_chunk(&chunk); }
};

struct Pending {
  duckdb_pending_result pending = nullptr;
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() { duckdb_destroy_pending(&pending); }
};

// Who is shown the rows by the SQL function kVisitFunction, which is true of every row.
struct RowVisitor {
  const std::function<void(const DuckDbChunk&)>& visit;
  std::atomic<int64_t> num_rows = 0;
  std::mutex failing = {};
  std::exception_ptr failure = {};
};

constexpr const char* kVisitFunction = "residua_visit_rows";

void VisitRows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
  auto* visitor = static_cast<RowVisitor*>(duckdb_scalar_function_get_extra_info(info));
  const DuckDbChunk chunk(input);
  try {
    visitor->visit(chunk);
  } catch (...) {
    const std::lock_guard<std::mutex> lock(visitor->failing);
    if (visitor->failure == nullptr) visitor->failure = std::current_exception();
    duckdb_scalar_function_set_error(info, "a row was refused");
    return;
  }
  visitor->num_rows += chunk.num_rows();
  std::fill_n(static_cast<bool*>(duckdb_vector_get_data(output)), chunk.num_rows(), true);
}

using ColumnFunction = std::function<void(const DuckDbChunk&, void*)>;

void FillColumn(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
  const auto* fill =
      static_cast<const ColumnFunction*>(duckdb_scalar_function_get_extra_info(info));
  try {
    (*fill)(DuckDbChunk(input), duckdb_vector_get_data(output));
  } catch (const std::exception& error) {
    duckdb_scalar_function_set_error(info, error.what());
  }
}

// Makes a function known to SQL, of one value or of any number of them.
void RegisterFunction(duckdb_connection connection, const std::string& name, bool is_of_many,
                      duckdb_type type, void* extra_info, duckdb_scalar_function_t call) {
  duckdb_scalar_function function = duckdb_create_scalar_function();
  duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
  duckdb_logical_type result = duckdb_create_logical_type(type);
  duckdb_scalar_function_set_name(function, name.c_str());
  if (is_of_many) {
    duckdb_scalar_function_set_varargs(function, any);
    // So that DuckDB calls it for every row, whatever the row holds.
    duckdb_scalar_function_set_volatile(function);
  } else {
    duckdb_scalar_function_add_parameter(function, any);
  }
  duckdb_scalar_function_set_special_handling(function);  // rows of missing values are rows too
  duckdb_scalar_function_set_return_type(function, result);
  duckdb_scalar_function_set_extra_info(function, extra_info, nullptr);
  duckdb_scalar_function_set_function(function, call);
  const duckdb_state registered = duckdb_register_scalar_function(connection, function);
  duckdb_destroy_logical_type(&any);
  duckdb_destroy_logical_type(&result);
  duckdb_destroy_scalar_function(&function);
  RESIDUA_CHECK(registered == DuckDBSuccess);
}

std::string Quoted(std::string_view text, char quote) {
  std::string quoted(1, quote);
  for (const char c : text) {
    if (c == '\0') Fail(ErrorKind::kBadInput, "a name or path holds a zero byte");
    if (c == quote) quoted += quote;
    quoted += c;
  }
  quoted += quote;
  return quoted;
}

bool IsOutOfMemory(std::string_view message) {
  return message.find("Out of Memory Error") != std::string_view::npos;
}

// DuckDB's message as one line, without the row of private data that its CSV errors quote: the
// first line, and the last one before the suggestions.
std::string OneLine(std::string_view message) {
  // A stream's failure comes wrapped in another.
  constexpr std::string_view kCause = "\nError: ";
  if (const size_t cause = message.find(kCause); cause != std::string_view::npos) {
    message.remove_prefix(cause + kCause.size());
  }
  // The rest suggests settings that cannot be changed here.
  if (IsOutOfMemory(message)) message = message.substr(0, message.find('\n'));
  std::string first;
  std::string last;
  bool has_suggestions = false;
  while (!message.empty() && !has_suggestions) {
    const size_t end = std::min(message.find('\n'), message.size());
    const std::string_view line = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
    has_suggestions = line.starts_with("Possible ");
    if (line.empty() || has_suggestions) continue;
    (first.empty() ? first : last) = line;
  }
  const size_t prefix = first.find(" Error: ");
  if (prefix != std::string::npos && first.find(':') == prefix + 6) first.erase(0, prefix + 8);
  const auto end_plainly = [](std::string* text) {
    text->erase(text->find_last_not_of(" .!") + 1);
  };
  end_plainly(&first);
  end_plainly(&last);
  if (has_suggestions && !last.empty()) first += ": " + last;
  return first;
}

// `path` for DuckDB, which does not take a name that begins with ~, file: or another prefix for a
// file in this folder.
std::string PlainPath(const std::string& path) {
  return path.starts_with('/') ? path : "./" + path;
}

// The same path as a pattern that no other name matches.
std::string PatternOf(const std::string& path) {
  std::string pattern;
  for (const char c : PlainPath(path)) {
    if (c == '*' || c == '?' || c == '[') {
      pattern += {'[', c, ']'};
    } else {
      pattern += c;
    }
  }
  return pattern;
}

// What to do about common faults; DuckDB only says what they are.
struct KnownFault {
  std::string_view text;  // in DuckDB's message
  std::string_view remedy;
};

constexpr KnownFault kKnownFaults[] = {
    {"not utf-8", "convert the file to UTF-8, e.g. iconv -f latin1 -t utf-8"},
    {"unicode", "convert the file to UTF-8, e.g. iconv -f latin1 -t utf-8"},
    {"Expected Number of Columns",
     "give every line as many fields as the first, which names the columns"},
    {"CSV Parser state machine",
     "check that all lines end alike (LF or CRLF) and that every quote is closed"},
    {"unterminated quote", "close the quote; inside quotes, a quote is written twice"},
    {"Malformed JSON", "correct the file"},
    {"too small to be a Parquet file", "copy it again, or name a Parquet file"},
    {"No magic bytes found", "copy it again, or name a Parquet file"},
    {"Table with name", "select from data, which is the file, or from a table of the database"},
    {"not found in FROM clause", "name a column of the table"},
    {"read a database file with version number",
     "export its tables to Parquet, or copy it in DuckDB with STORAGE_VERSION 'v1.0.0'"},
    {"Corrupt database file", "restore it from a copy"},
    {"Could not set lock on file", "close the program that has it open"},
};

// The remedy for a message, with what is before it; or nothing.
std::string RemedyFor(std::string_view message) {
  for (const KnownFault& fault : kKnownFaults) {
    if (message.find(fault.text) != message.npos) return fmt::format("; {}", fault.remedy);
  }
  return "";
}

// DuckDB's message where a database is opened that is a file of another kind: DuckDB would take it
// for a new database, or for one of another program.
bool IsNoDatabase(std::string_view message) {
  return message.find("in-memory database in read-only mode") != message.npos ||
         message.find("not a valid DuckDB database file") != message.npos ||
         message.find("sqlite_scanner") != message.npos;
}

}  // namespace

duckdb_type DuckDbChunk::Type(int column) const {
  duckdb_logical_type type = duckdb_vector_get_column_type(Vector(column));
  const duckdb_type id = duckdb_get_type_id(type);
  duckdb_destroy_logical_type(&type);
  return id;
}

std::string SqlText(std::string_view text) { return Quoted(text, '\''); }
std::string SqlName(std::string_view name) { return Quoted(name, '"'); }
std::string SqlPath(const std::string& path) { return SqlText(PatternOf(path)); }

DuckDbConnection DuckDbConnection::InMemory(const std::string& name, const std::string& path) {
  return DuckDbConnection(name, "", path, false);
}

DuckDbConnection DuckDbConnection::InLittleMemory(const std::string& name, const std::string& path,
                                                  int64_t memory_bytes) {
  return DuckDbConnection(name, "", path, false, memory_bytes);
}

DuckDbConnection DuckDbConnection::ReadOnly(const std::string& name,
                                            const std::string& database_path) {
  return DuckDbConnection(name, database_path, "", true);
}

DuckDbConnection::DuckDbConnection(std::string name, const std::string& path,
                                   const std::string& allowed_path, bool read_only,
                                   int64_t memory_bytes)
    : name_(std::move(name)) {
  duckdb_config config = nullptr;
  duckdb_create_config(&config);
  const std::unique_ptr<duckdb_config, void (*)(duckdb_config*)> destroy_config(
      &config, duckdb_destroy_config);
  duckdb_set_config(config, "autoinstall_known_extensions", "false");
  duckdb_set_config(config, "autoload_known_extensions", "false");
  // No temporary files: what does not fit into memory would be written where others may read it,
  // and would stay there after a crash.
  duckdb_set_config(config, "temp_directory", "");
  if (read_only) duckdb_set_config(config, "access_mode", "READ_ONLY");
  char* message = nullptr;
  const duckdb_state opened = duckdb_open_ext(path.empty() ? nullptr : PlainPath(path).c_str(),
                                              &database_, config, &message);
  const std::string reason = message == nullptr ? "it cannot be opened" : OneLine(message);
  if (message != nullptr) duckdb_free(message);
  if (opened != DuckDBSuccess && IsNoDatabase(reason)) {
    Fail(ErrorKind::kBadInput,
         "{}: is not a database of DuckDB; name a file of rows as source, with the query, and one "
         "of SQLite as sqlite:FILE",
         name_);
  }
  if (opened != DuckDBSuccess) FailWith(reason.c_str());
  try {
    if (duckdb_connect(database_, &connection_) != DuckDBSuccess) FailWith("it cannot be opened");
    if (!allowed_path.empty()) {
      Run(fmt::format("SET allowed_paths = [{}, {}]", SqlText(PlainPath(allowed_path)),
                      SqlPath(allowed_path)));
    }
    // Every file is read once: what DuckDB keeps of it would grow with it.
    Run("SET enable_external_file_cache = false");
    Run("SET enable_external_access = false");
    if (memory_bytes > 0) {
      Run("SET threads = 1");
      Run("SET memory_limit = '" + std::to_string(memory_bytes) + "B'");
    }
    Run("SET lock_configuration = true");
  } catch (...) {
    duckdb_disconnect(&connection_);
    duckdb_close(&database_);
    throw;
  }
}

DuckDbConnection::DuckDbConnection(DuckDbConnection&& other) noexcept
    : name_(std::move(other.name_)),
      database_(std::exchange(other.database_, nullptr)),
      connection_(std::exchange(other.connection_, nullptr)) {}

DuckDbConnection::~DuckDbConnection() {
  duckdb_disconnect(&connection_);
  duckdb_close(&database_);
}

void DuckDbConnection::FailWith(const char* duckdb_message) const {
  const std::string message =
      duckdb_message == nullptr ? "DuckDB failed and does not say why" : OneLine(duckdb_message);
  const bool is_out_of_memory = duckdb_message != nullptr && IsOutOfMemory(duckdb_message);
  Fail(ErrorKind::kIo, "{}: {}{}", name_, message,
       is_out_of_memory ? "; no row is written to disk to save memory: sort, join and group "
                          "beforehand, in the database, or use a larger machine"
                        : RemedyFor(message));
}

void DuckDbConnection::Run(const std::string& sql) {
  Result result;
  if (duckdb_query(connection_, sql.c_str(), &result.result) != DuckDBSuccess) {
    FailWith(duckdb_result_error(&result.result));
  }
}

void DuckDbConnection::Stream(const std::string& select,
                              const std::function<void(const DuckDbChunk&)>& visit) {
  Prepared prepared;
  if (duckdb_prepare(connection_, select.c_str(), &prepared.statement) != DuckDBSuccess) {
    FailWith(duckdb_prepare_error(prepared.statement));
  }
  Result result;
  if (duckdb_execute_prepared_streaming(prepared.statement, &result.result) != DuckDBSuccess) {
    FailWith(duckdb_result_error(&result.result));
  }
  try {
    while (true) {
      const Chunk chunk(duckdb_fetch_chunk(result.result));
      if (chunk.chunk == nullptr) break;
      visit(DuckDbChunk(chunk.chunk));
    }
  } catch (...) {
    // A stream that is not read to its end can keep a thread of DuckDB waiting, and closing would
    // wait for that thread.
    duckdb_interrupt(connection_);
    while (Chunk(duckdb_fetch_chunk(result.result)).chunk != nullptr) {
    }
    throw;
  }
  // The end of a result and a failure look alike until DuckDB is asked.
  const char* message = duckdb_result_error(&result.result);
  if (message != nullptr && *message != '\0') FailWith(message);
}

void DuckDbConnection::VisitInParallel(const std::vector<std::string>& columns,
                                       const std::string& from,
                                       const std::function<void(const DuckDbChunk&)>& visit,
                                       const std::function<void(int64_t)>& on_rows) {
  // How long the calling thread sleeps while the others have all the work.
  constexpr std::chrono::microseconds kPause(200);
  RowVisitor visitor{visit};
  RegisterFunction(connection_, kVisitFunction, true, DUCKDB_TYPE_BOOLEAN, &visitor, VisitRows);
  const std::string select = fmt::format("SELECT count(*), count({}({})) FROM {}", kVisitFunction,
                                         fmt::join(columns, ", "), from);
  Prepared prepared;
  if (duckdb_prepare(connection_, select.c_str(), &prepared.statement) != DuckDBSuccess) {
    FailWith(duckdb_prepare_error(prepared.statement));
  }
  Pending pending;
  if (duckdb_pending_prepared(prepared.statement, &pending.pending) != DuckDBSuccess) {
    FailWith(duckdb_pending_error(pending.pending));
  }
  std::exception_ptr stopped;
  duckdb_pending_state state = DUCKDB_PENDING_RESULT_NOT_READY;
  while (!duckdb_pending_execution_is_finished(state) && state != DUCKDB_PENDING_ERROR) {
    state = duckdb_pending_execute_task(pending.pending);
    if (state == DUCKDB_PENDING_NO_TASKS_AVAILABLE) std::this_thread::sleep_for(kPause);
    try {
      if (on_rows && stopped == nullptr) on_rows(visitor.num_rows);
    } catch (...) {
      stopped = std::current_exception();
      duckdb_interrupt(connection_);
    }
  }
  if (stopped != nullptr) std::rethrow_exception(stopped);
  if (visitor.failure != nullptr) std::rethrow_exception(visitor.failure);
  if (state == DUCKDB_PENDING_ERROR) FailWith(duckdb_pending_error(pending.pending));
  Result result;
  if (duckdb_execute_pending(pending.pending, &result.result) != DuckDBSuccess) {
    if (visitor.failure != nullptr) std::rethrow_exception(visitor.failure);
    FailWith(duckdb_result_error(&result.result));
  }
  if (on_rows) on_rows(visitor.num_rows);
  // Every row was seen once.
  RESIDUA_CHECK(duckdb_value_int64(&result.result, 0, 0) == visitor.num_rows &&
                duckdb_value_int64(&result.result, 1, 0) == visitor.num_rows);
}

std::vector<DuckDbColumn> DuckDbConnection::Describe(const std::string& select) {
  std::vector<DuckDbColumn> columns;
  Stream("DESCRIBE " + select, [&](const DuckDbChunk& chunk) {
    for (int64_t row = 0; row < chunk.num_rows(); ++row) {
      columns.push_back({std::string(TextOf(chunk.Values<duckdb_string_t>(0)[row])),
                         std::string(TextOf(chunk.Values<duckdb_string_t>(1)[row]))});
    }
  });
  return columns;
}

std::optional<std::string> DuckDbConnection::FirstText(const std::string& select) {
  std::optional<std::string> first;
  Stream(select, [&](const DuckDbChunk& chunk) {
    if (first.has_value() || chunk.num_rows() == 0) return;
    if (IsMissing(chunk.Validity(0), 0)) return;
    first = std::string(TextOf(chunk.Values<duckdb_string_t>(0)[0]));
  });
  return first;
}

void DuckDbConnection::Register(duckdb_table_function function) {
  if (duckdb_register_table_function(connection_, function) != DuckDBSuccess) {
    FailWith("a table function cannot be registered");
  }
}

void DuckDbConnection::Define(const std::string& name, duckdb_type type,
                              const ColumnFunction& fill) {
  RegisterFunction(connection_, name, false, type, const_cast<ColumnFunction*>(&fill), FillColumn);
}

bool DuckDbConnection::CanView(const std::string& view, ArrowArrayStream* stream) {
  // DuckDB's handle is the stream itself.
  auto* handle = reinterpret_cast<duckdb_arrow_stream>(stream);
  return duckdb_arrow_scan(connection_, view.c_str(), handle) == DuckDBSuccess;
}

void DuckDbConnection::ViewArrow(const std::string& view, ArrowArrayStream* stream) {
  if (CanView(view, stream)) return;
  // DuckDB does not say which column it is.
  const std::vector<std::string> names = ColumnNamesOf(stream);
  for (size_t k = 0; k < names.size(); ++k) {
    ArrowProjection alone(stream, {k});
    if (CanView(view + "_" + std::to_string(k), alone.stream())) continue;
    Fail(ErrorKind::kBadInput,
         "{}: column '{}' has an Arrow type that cannot be read, such as records without fields or "
         "16-bit floats; convert it to text or to numbers of another type",
         name_, ShownText(names[k]));
  }
  FailWith("its columns cannot be read as Arrow");
}

void DuckDbConnection::CheckIsOneSelect(const std::string& sql) {
  duckdb_extracted_statements statements = nullptr;
  const idx_t count = duckdb_extract_statements(connection_, sql.c_str(), &statements);
  const std::unique_ptr<duckdb_extracted_statements, void (*)(duckdb_extracted_statements*)>
      destroy_statements(&statements, duckdb_destroy_extracted);
  if (count == 0) {
    const char* message = duckdb_extract_statements_error(statements);
    Fail(ErrorKind::kBadInput, "{}: the query cannot be read: {}", name_,
         message == nullptr ? "it is empty" : OneLine(message));
  }
  Prepared prepared;
  if (count == 1 && duckdb_prepare_extracted_statement(connection_, statements, 0,
                                                       &prepared.statement) != DuckDBSuccess) {
    FailWith(duckdb_prepare_error(prepared.statement));
  }
  if (count != 1 ||
      duckdb_prepared_statement_type(prepared.statement) != DUCKDB_STATEMENT_TYPE_SELECT) {
    Fail(ErrorKind::kBadInput, "{}: the query must be a single SELECT", name_);
  }
}

}  // namespace residua
