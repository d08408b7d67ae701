#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "residua/base/int128.h"

namespace residua {

class FileInProgress;

// One column of a batch: BIGINT, DOUBLE, VARCHAR, or a list of VARCHAR, BIGINT or DECIMAL(38,0).
using ParquetColumn =
    std::variant<std::vector<int64_t>, std::vector<double>, std::vector<std::string>,
                 std::vector<std::vector<std::string>>, std::vector<std::vector<int64_t>>,
                 std::vector<std::vector<Int128>>>;

// Rows beside each other, a column each; at most kMaxBatchRows.
using ParquetBatch = std::vector<ParquetColumn>;
inline constexpr int64_t kMaxBatchRows = 2048;

// Streams batches into a Parquet file, holding only a few at a time. The file appears at `path`,
// synced and complete, when Finish returns; until then, and if it never does, there is nothing at
// `path` that was not there before. A writer belongs to one thread at a time.
class ParquetWriter {
 public:
  // `schema` is an empty batch: the types of the columns; `names` are theirs. `metadata` becomes
  // the file's key-value metadata. Error{kIo} if the folder cannot be written.
  ParquetWriter(const std::filesystem::path& path, std::vector<std::string> names,
                ParquetBatch schema, const std::map<std::string, std::string>& metadata);
  ParquetWriter(const ParquetWriter&) = delete;
  ParquetWriter& operator=(const ParquetWriter&) = delete;
  ~ParquetWriter();

  void Write(ParquetBatch batch);
  void Finish();
  // In place of Finish: the file is complete and synced under its temporary name, and whoever
  // called puts it in place or discards it.
  void Complete();
  FileInProgress& file();

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace residua
