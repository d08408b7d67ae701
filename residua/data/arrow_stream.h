#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

// The Arrow C data and stream interfaces: an ABI, which every library that speaks Arrow declares
// for itself, under these names.
extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace residua {

// The names of the stream's columns, repeated ones included. Error{kBadInput} if it is not a stream
// of rows, Error{kIo} if it fails.
std::vector<std::string> ColumnNamesOf(ArrowArrayStream* stream);

// The rows of `source` with only these of its columns, in this order, none twice; nothing is
// copied. DuckDB assumes that the columns of a stream are those that a query asks for, in the order
// in which the query first names them, and ignores their names in the stream: only a stream of
// exactly these columns is read correctly.
class ArrowProjection {
 public:
  // Does not take ownership of `source`, which must outlive this.
  ArrowProjection(ArrowArrayStream* source, std::vector<size_t> columns);
  ArrowProjection(const ArrowProjection&) = delete;
  ArrowProjection& operator=(const ArrowProjection&) = delete;
  ~ArrowProjection();

  ArrowArrayStream* stream() { return &stream_; }

 private:
  static int GetSchema(ArrowArrayStream* stream, ArrowSchema* out);
  static int GetNext(ArrowArrayStream* stream, ArrowArray* out);

  ArrowArrayStream* source_;
  std::vector<size_t> columns_;
  // DuckDB asks for the schema many times and never releases it: it gets the columns of this one.
  ArrowSchema schema_;
  std::vector<ArrowSchema*> schema_columns_;
  ArrowArrayStream stream_;
  std::mutex asking_;  // the source is not thread-safe: DuckDB's threads ask it in turn
};

}  // namespace residua
