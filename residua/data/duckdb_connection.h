#pragma once

#include <duckdb.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct ArrowArrayStream;

namespace residua {

// The only header that includes DuckDB's own. Only data/ and files/ include it.

struct DuckDbColumn {
  std::string name;
  std::string type;  // as SQL writes it: BIGINT, DECIMAL(18,3), INTEGER[]
};

// One chunk of a result: the columns' values beside each other, at most a few thousand rows. Values
// are valid until the visit it was passed to returns.
class DuckDbChunk {
 public:
  explicit DuckDbChunk(duckdb_data_chunk chunk) : chunk_(chunk) {}

  int64_t num_rows() const { return static_cast<int64_t>(duckdb_data_chunk_get_size(chunk_)); }

  // The values of a column whose SQL type is BIGINT (int64_t), DOUBLE (double) or VARCHAR
  // (duckdb_string_t).
  template <typename Value>
  const Value* Values(int column) const {
    return static_cast<const Value*>(duckdb_vector_get_data(Vector(column)));
  }
  // The values of a column whose SQL type is a list of such, and where each row's begin and end.
  const duckdb_list_entry* Lists(int column) const {
    return static_cast<const duckdb_list_entry*>(duckdb_vector_get_data(Vector(column)));
  }
  template <typename Value>
  const Value* ListValues(int column) const {
    return static_cast<const Value*>(
        duckdb_vector_get_data(duckdb_list_vector_get_child(Vector(column))));
  }
  duckdb_type Type(int column) const;
  // One bit per row, set where there is a value; null when every row has one.
  const uint64_t* Validity(int column) const { return duckdb_vector_get_validity(Vector(column)); }

 private:
  duckdb_vector Vector(int column) const {
    return duckdb_data_chunk_get_vector(chunk_, static_cast<idx_t>(column));
  }
  duckdb_data_chunk chunk_;
};

// Whether a row has no value, by its column's Validity.
inline bool IsMissing(const uint64_t* validity, int64_t row) {
  return validity != nullptr && (validity[row / 64] >> (row % 64) & 1) == 0;
}

inline std::string_view TextOf(const duckdb_string_t& text) {
  const uint32_t length = text.value.inlined.length;
  return {length <= sizeof(text.value.inlined.inlined) ? text.value.inlined.inlined
                                                       : text.value.pointer.ptr,
          length};
}

// A connection without access to the network, to extensions that are not built in, or to any file
// other than the one it was opened for. It writes no temporary files. Errors are thrown as one line
// that begins with `name`.
class DuckDbConnection {
 public:
  // An empty database in memory, with access to the file at `path` unless `path` is empty.
  static DuckDbConnection InMemory(const std::string& name, const std::string& path);
  // The same with one thread and a bound on DuckDB's memory: for files from unknown sources.
  static DuckDbConnection InLittleMemory(const std::string& name, const std::string& path,
                                         int64_t memory_bytes);
  // An existing database, to be read and not written.
  static DuckDbConnection ReadOnly(const std::string& name, const std::string& database_path);

  DuckDbConnection(DuckDbConnection&& other) noexcept;
  DuckDbConnection& operator=(DuckDbConnection&&) = delete;
  ~DuckDbConnection();

  void Run(const std::string& sql);
  // The columns `select` would return.
  std::vector<DuckDbColumn> Describe(const std::string& select);
  // The first value of the first row as text, or nothing.
  std::optional<std::string> FirstText(const std::string& select);
  // Runs one statement and passes its result on chunk by chunk, in order, without ever holding all
  // of it.
  void Stream(const std::string& select, const std::function<void(const DuckDbChunk&)>& visit);
  // Passes the values of `columns`, SQL expressions, in all rows of `from` to `visit`: every row
  // once, in no order, and several chunks at once, by DuckDB's threads. Whatever `visit` throws
  // ends it and is thrown. `on_rows` is called now and then, on the calling thread, with the number
  // of rows so far. A connection can do this once.
  void VisitInParallel(const std::vector<std::string>& columns, const std::string& from,
                       const std::function<void(const DuckDbChunk&)>& visit,
                       const std::function<void(int64_t)>& on_rows);
  // Makes `fill` known to SQL as a function of one argument of any type, whose result is of `type`.
  // It gets a chunk of one column, and the memory for one result per row. It must follow from the
  // values alone: DuckDB calls it for some values once, and for values that no row has. Threads may
  // call it at once. It must outlive the statements that call it.
  void Define(const std::string& name, duckdb_type type,
              const std::function<void(const DuckDbChunk&, void*)>& fill);
  // Error{kBadInput} unless `sql` is exactly one SELECT statement.
  void CheckIsOneSelect(const std::string& sql);
  // Makes the rows of an Arrow stream known to SQL as the view `view`, which can be read once.
  // Error{kBadInput} names the column that DuckDB cannot read.
  void ViewArrow(const std::string& view, ArrowArrayStream* stream);
  // Makes `function` known to SQL.
  void Register(duckdb_table_function function);

 private:
  DuckDbConnection(std::string name, const std::string& path, const std::string& allowed_path,
                   bool read_only, int64_t memory_bytes = 0);
  [[noreturn]] void FailWith(const char* duckdb_message) const;
  // Makes the view, if DuckDB can read columns of these types.
  bool CanView(const std::string& view, ArrowArrayStream* stream);

  std::string name_;
  duckdb_database database_ = nullptr;
  duckdb_connection connection_ = nullptr;
};

// 'it''s' and "a ""b"" c": text as an SQL literal and as an SQL identifier.
std::string SqlText(std::string_view text);
std::string SqlName(std::string_view name);
// A path as an SQL literal for functions that read files, which would take data*.csv for many
// files.
std::string SqlPath(const std::string& path);

}  // namespace residua
