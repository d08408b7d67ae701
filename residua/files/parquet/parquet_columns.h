#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "residua/base/int128.h"
#include "residua/files/digest.h"
#include "residua/files/file.h"

namespace residua {

// A Parquet file of labels and numbers, for what is published. DuckDB's writer decides column by
// column what to encode and compress by looking at the values, and takes several times as long.
// Here the caller decides, so that how a file is built follows from what is known before: all
// labels are in the dictionary, in the order given, whether a row has them or not; nothing is
// compressed; and doubles without a dictionary are written as they are, because noisy doubles do
// not repeat.

// Some rows of a column with a dictionary: `count` rows whose entries are
//   offset + ((first + j) / repeat) % size, j = 0, 1, ...;
// without a value if `size` is 0.
struct EntryStretch {
  int64_t count = 0;
  int64_t size = 0;
  int64_t repeat = 1;
  int64_t first = 0;
  int64_t offset = 0;
};

// The distinct values of a column, as a file has them, and the least and greatest of texts and
// integers; these are empty for doubles and where texts are long.
struct ParquetDictionary {
  std::string bytes;
  int64_t size = 0;
  std::string least, greatest;
};
ParquetDictionary DictionaryOf(std::span<const std::string> texts);
ParquetDictionary DictionaryOf(std::span<const double> numbers);
ParquetDictionary DictionaryOf(std::span<const int64_t> numbers);

struct DictionaryColumn {
  const ParquetDictionary* dictionary;
  std::span<const EntryStretch> stretches;
};

// AppendPacked's form.
struct PackedColumn {
  std::span<const int64_t> values;
};
// Of a nullable column: no row has a value.
struct EmptyColumn {};

// What a column holds in a row group.
using ParquetColumnValues =
    std::variant<DictionaryColumn, std::span<const double>, std::span<const int64_t>, PackedColumn,
                 std::span<const Int128>, EmptyColumn>;

struct ParquetColumnType {
  enum class Kind { kText, kDouble, kInteger, kDecimal };  // of DECIMAL(38, 0)
  std::string name;
  Kind kind = Kind::kText;
  bool is_nullable = false;
};

// Whether the file has digests: of the bytes of each row group, and of its footer.
enum class ParquetSeal { kNone, kDigests };
inline constexpr const char* kRowGroupDigestsKey = "residua_row_groups";
inline constexpr const char* kFooterDigestKey = "residua_seal";

// Takes row groups one after the other. The file appears at `path`, complete, when Finish returns;
// until then, and if it never does, nothing is at `path` that was not there before.
class ParquetColumnsFile {
 public:
  ParquetColumnsFile(const std::filesystem::path& path, std::vector<ParquetColumnType> columns,
                     std::map<std::string, std::string> metadata,
                     ParquetSeal seal = ParquetSeal::kNone);

  // Until the file is finished.
  void SetMetadata(const std::string& key, const std::string& value) { metadata_[key] = value; }

  // As many values in each column as there are rows.
  void WriteRowGroup(int64_t num_rows, std::span<const ParquetColumnValues> columns);
  void Finish(Durability durability);
  // In place of Finish: the file is complete and synced under its temporary name, and the caller
  // puts it in place or discards it.
  void Complete();
  FileInProgress& file() { return file_; }

 private:
  // Where a column of a row group is.
  struct Chunk {
    int64_t dictionary_offset = -1;  // if there is a dictionary
    int64_t data_offset = 0;
    int64_t num_bytes = 0;
    int64_t num_nulls = 0;
    bool is_packed = false;
    std::string least, greatest;  // if known
  };
  struct RowGroup {
    int64_t num_rows = 0;
    std::vector<Chunk> chunks;
  };

  Chunk WriteColumn(int64_t num_rows, const ParquetColumnType& type,
                    const ParquetColumnValues& values);
  void Append(std::string_view bytes);
  std::string Footer() const;
  void WriteFooter();

  FileInProgress file_;
  std::vector<ParquetColumnType> columns_;
  std::map<std::string, std::string> metadata_;
  ParquetSeal seal_;
  RunningSha256 digest_;       // of the row group, if there are digests
  std::string group_digests_;  // separated by spaces
  std::vector<RowGroup> row_groups_;
  int64_t num_bytes_ = 0;
};

}  // namespace residua
