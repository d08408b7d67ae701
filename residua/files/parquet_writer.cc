#include "residua/files/parquet_writer.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "residua/base/error.h"
#include "residua/data/duckdb_connection.h"
#include "residua/files/file.h"

namespace residua {
namespace {

// Batches waiting for DuckDB; more would only hold memory.
constexpr size_t kMaxQueuedBatches = 4;

// Row groups are DuckDB's smallest, so that a file of long lists is written with little memory.
constexpr int kRowGroupRows = 2048;

struct SqlTypeOf {
  duckdb_logical_type operator()(const std::vector<int64_t>&) const {
    return duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
  }
  duckdb_logical_type operator()(const std::vector<double>&) const {
    return duckdb_create_logical_type(DUCKDB_TYPE_DOUBLE);
  }
  duckdb_logical_type operator()(const std::vector<std::string>&) const {
    return duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
  }
  // DuckDB writes HUGEINT to Parquet as DOUBLE; decimals stay exact.
  duckdb_logical_type operator()(const std::vector<Int128>&) const {
    return duckdb_create_decimal_type(38, 0);
  }
  template <typename Value>
  duckdb_logical_type operator()(const std::vector<std::vector<Value>>&) const {
    duckdb_logical_type child = (*this)(std::vector<Value>());
    duckdb_logical_type list = duckdb_create_list_type(child);
    duckdb_destroy_logical_type(&child);
    return list;
  }
};

void Assign(duckdb_vector vector, idx_t row, const std::string& text) {
  duckdb_vector_assign_string_element_len(vector, row, text.data(), text.size());
}
void Assign(duckdb_vector vector, idx_t row, double value) {
  static_cast<double*>(duckdb_vector_get_data(vector))[row] = value;
}
void Assign(duckdb_vector vector, idx_t row, int64_t value) {
  static_cast<int64_t*>(duckdb_vector_get_data(vector))[row] = value;
}
void Assign(duckdb_vector vector, idx_t row, Int128 value) {
  static_cast<duckdb_hugeint*>(duckdb_vector_get_data(vector))[row] = {
      static_cast<uint64_t>(value), static_cast<int64_t>(value >> 64)};
}

// Copies a column into a vector of DuckDB's.
struct CopyTo {
  duckdb_vector vector;

  template <typename Value>
  void operator()(const std::vector<Value>& values) const {
    for (size_t row = 0; row < values.size(); ++row) Assign(vector, row, values[row]);
  }
  template <typename Value>
  void operator()(const std::vector<std::vector<Value>>& lists) const {
    idx_t total = 0;
    for (const auto& list : lists) total += list.size();
    duckdb_list_vector_reserve(vector, total);
    duckdb_list_vector_set_size(vector, total);
    duckdb_vector child = duckdb_list_vector_get_child(vector);
    auto* entries = static_cast<duckdb_list_entry*>(duckdb_vector_get_data(vector));
    idx_t offset = 0;
    for (size_t row = 0; row < lists.size(); ++row) {
      entries[row] = {offset, lists[row].size()};
      for (const Value& value : lists[row]) Assign(child, offset++, value);
    }
  }
};

size_t NumRows(const ParquetBatch& batch) {
  return std::visit([](const auto& column) { return column.size(); }, batch.front());
}

}  // namespace

// DuckDB pulls and the caller pushes: a queue between them, and a thread that runs the COPY.
class ParquetWriter::Stream {
 public:
  Stream(const std::filesystem::path& path, std::vector<std::string> names, ParquetBatch schema,
         const std::map<std::string, std::string>& metadata)
      : names_(std::move(names)), schema_(std::move(schema)), file_(path) {
    std::string pairs;
    for (const auto& [key, value] : metadata) {
      pairs += fmt::format("{}{}: {}", pairs.empty() ? "" : ", ", SqlName(key), SqlText(value));
    }
    copy_ = fmt::format(
        "COPY (SELECT * FROM residua_rows()) TO {} (FORMAT parquet, USE_TMP_FILE false, "
        "ROW_GROUP_SIZE {}{})",
        SqlText(file_.path()), kRowGroupRows,
        pairs.empty() ? "" : fmt::format(", KV_METADATA {{{}}}", pairs));
    thread_ = std::thread([this, name = path.string()] { Run(name); });
  }

  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  ~Stream() {
    Close(/*complete=*/false);
    if (thread_.joinable()) thread_.join();
  }

  void Push(ParquetBatch batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queue_.size() < kMaxQueuedBatches || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    queue_.push_back(std::move(batch));
    changed_.notify_all();
  }

  void Finish() {
    WriteAll();
    file_.Commit();
  }

  void Complete() {
    WriteAll();
    file_.Complete();
  }

  FileInProgress& file() { return file_; }

 private:
  void WriteAll() {
    Close(/*complete=*/true);
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  void Close(bool complete) {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    complete_ = complete_ || complete;
    changed_.notify_all();
  }

  void Run(const std::string& name) {
    try {
      DuckDbConnection connection = DuckDbConnection::InMemory(name, file_.path());
      duckdb_table_function function = duckdb_create_table_function();
      duckdb_table_function_set_name(function, "residua_rows");
      duckdb_table_function_set_extra_info(function, this, nullptr);
      duckdb_table_function_set_bind(function, Bind);
      duckdb_table_function_set_init(
          function, [](duckdb_init_info info) { duckdb_init_set_max_threads(info, 1); });
      duckdb_table_function_set_function(function, Next);
      const std::unique_ptr<duckdb_table_function, void (*)(duckdb_table_function*)> destroy(
          &function, duckdb_destroy_table_function);
      connection.Register(function);
      connection.Run(copy_);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  static void Bind(duckdb_bind_info info) {
    const auto& stream = *static_cast<Stream*>(duckdb_bind_get_extra_info(info));
    for (size_t k = 0; k < stream.schema_.size(); ++k) {
      duckdb_logical_type type = std::visit(SqlTypeOf(), stream.schema_[k]);
      duckdb_bind_add_result_column(info, stream.names_[k].c_str(), type);
      duckdb_destroy_logical_type(&type);
    }
  }

  static void Next(duckdb_function_info info, duckdb_data_chunk chunk) {
    auto& stream = *static_cast<Stream*>(duckdb_function_get_extra_info(info));
    const std::optional<ParquetBatch> batch = stream.Pop();
    if (!batch) {
      duckdb_data_chunk_set_size(chunk, 0);
      if (!stream.complete_) duckdb_function_set_error(info, "the rows ended early");
      return;
    }
    for (size_t k = 0; k < batch->size(); ++k) {
      std::visit(CopyTo{duckdb_data_chunk_get_vector(chunk, k)}, (*batch)[k]);
    }
    duckdb_data_chunk_set_size(chunk, NumRows(*batch));
  }

  std::optional<ParquetBatch> Pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !queue_.empty() || closed_; });
    if (queue_.empty() || (closed_ && !complete_)) return std::nullopt;
    ParquetBatch batch = std::move(queue_.front());
    queue_.pop_front();
    changed_.notify_all();
    return batch;
  }

  std::vector<std::string> names_;
  ParquetBatch schema_;
  FileInProgress file_;
  std::string copy_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ParquetBatch> queue_;
  bool closed_ = false;
  bool complete_ = false;
  std::exception_ptr failure_;
};

ParquetWriter::ParquetWriter(const std::filesystem::path& path, std::vector<std::string> names,
                             ParquetBatch schema,
                             const std::map<std::string, std::string>& metadata)
    : stream_(std::make_unique<Stream>(path, std::move(names), std::move(schema), metadata)) {}

ParquetWriter::~ParquetWriter() = default;

void ParquetWriter::Write(ParquetBatch batch) {
  RESIDUA_CHECK(NumRows(batch) <= static_cast<size_t>(kMaxBatchRows));
  if (NumRows(batch) > 0) stream_->Push(std::move(batch));
}

void ParquetWriter::Finish() { stream_->Finish(); }

void ParquetWriter::Complete() { stream_->Complete(); }

FileInProgress& ParquetWriter::file() { return stream_->file(); }

}  // namespace residua
