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

// The names of the stream's columns, as they are, repeated ones included. Error{kBadInput} if it is
// no stream of rows, Error{kIo} if it fails.
std::vector<std::string> ColumnNamesOf(ArrowArrayStream* stream);

// The rows of `source` with these of its columns alone, in this order, none twice; nothing is
// copied. DuckDB takes the columns of a stream for those that a query asks for, in the order it
// first names them, whatever the stream calls them: only a stream of exactly those is read right.
class ArrowProjection {
 public:
  // `source` stays its owner's, and outlives this.
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
  // DuckDB asks for the schema again and again and releases none: it gets this one's columns.
  ArrowSchema schema_;
  std::vector<ArrowSchema*> schema_columns_;
  ArrowArrayStream stream_;
  std::mutex asking_;  // DuckDB's threads ask the source, which knows of none, one at a time
};

}  // namespace residua
