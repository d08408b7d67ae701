#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "residua/files/readable_bytes.h"

namespace residua {

// A column of a row group: where it is in the file.
struct ParquetChunkPlace {
  std::string column;
  int64_t offset = 0;
  int64_t num_bytes = 0;
  int64_t num_values = 0;
  int64_t num_nulls = -1;  // if it says so
};
struct ParquetRowGroupPlace {
  int64_t num_rows = 0;
  std::vector<ParquetChunkPlace> chunks;
};

// What the end of a Parquet file says, of what is needed here.
struct ParquetFooter {
  std::string bytes;
  int64_t offset = 0;  // in the file; all bytes before it are rows
  std::map<std::string, std::string> metadata;
  std::vector<ParquetRowGroupPlace> row_groups;
};

// Error{kBadInput} if the file does not end as Parquet files do, or if a list or text of its footer
// claims to be longer than the footer. A reader that makes room for what is claimed would take any
// amount of memory for a small file; after this check it takes some hundred bytes for each byte of
// the footer, which is not compressed.
ParquetFooter ReadParquetFooter(const ReadableBytes& file);

// What is in place of the footer's digest when it is computed, and whether the digest is right.
std::string NoFooterDigest();
bool HasRightDigest(const ParquetFooter& footer);

// The numbers that the Parquet format gives to what is used here.
enum class PageType { kData = 0, kDictionary = 2 };
enum class PageEncoding { kPlain = 0, kRle = 3, kDeltaBinaryPacked = 5, kRleDictionary = 8 };

// A page of a column that ParquetColumnsFile wrote, or claims to be one.
struct ParquetPage {
  PageType type = PageType::kData;
  PageEncoding encoding = PageEncoding::kPlain;
  int64_t num_values = 0;
  std::string_view body;
};

// Takes a page off the front of `bytes`; nothing if it is not whole or of another kind.
std::optional<ParquetPage> TakePage(std::string_view* bytes);

// `count` values that are the same.
struct ParquetRun {
  int64_t count = 0;
  uint64_t value = 0;
};
// All runs of `bytes`, of values of `bit_width` bits. Nothing if they are not runs.
std::optional<std::vector<ParquetRun>> ReadRuns(std::string_view bytes, int bit_width);

// Of a nullable column whose rows all have a value or none have: which, taken off the front of a
// data page of `num_rows` rows. Nothing if it is not such.
std::optional<bool> TakeValidity(std::string_view* body, int64_t num_rows);

// The texts of a dictionary of `count`; nothing if it holds anything else.
std::optional<std::vector<std::string_view>> ReadTexts(std::string_view body, int64_t count);

}  // namespace residua
