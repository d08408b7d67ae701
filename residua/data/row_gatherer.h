#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "residua/data/column_reader.h"
#include "residua/data/duckdb_connection.h"
#include "residua/data/null_values.h"
#include "residua/data/row_layout.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/remote/sealed_bytes.h"
#include "residua/noise/bit_source.h"

namespace residua {

// What became of the rows; sums of the counts of several gatherers are those of all their rows.
struct RowCounts {
  int64_t num_read = 0;
  int64_t num_dropped = 0;             // each once, also with several values outside
  int64_t num_without_identifier = 0;  // left out because they have no identifier
};

// Gathers the codes of rows, chunk after chunk. One thread at a time uses it.
class RowGatherer {
 public:
  // Keeps views of the arguments. One that `is_alone` gets the values of columns, which it encodes
  // in parallel; one of several at work at once gets their outcomes.
  RowGatherer(const RowLayout& layout, const Domain& domain, const Protection& protection,
              OutsideValues outside_values, const NullValues& null_values, bool is_alone);

  // Encodes the rows of the chunk, whose first comes after `num_rows_before` others, and keeps
  // those that are counted. Throws the error of the first column with a value that is refused.
  void Append(const DuckDbChunk& chunk, int64_t num_rows_before);

  // Of the rows kept since they were last taken.
  int64_t num_rows() const { return num_rows_; }
  EncodedTable TakeRows();
  // Before rows are appended: memory that grows is copied, and fresh memory takes as long to get as
  // to fill.
  void MakeRoomFor(int64_t num_rows);
  void UseMemoryOf(EncodedTable&& rows);

  // Of each identifier only `max_rows` rows stay, chosen by `bits`; returns how many are left out.
  int64_t KeepBoundedRows(BitSource& bits);
  // The same, chosen by a secret, whatever the order of the rows.
  int64_t KeepBoundedRows(const SealingKey& key);

  // Before that: how many identifiers have 1 row, 2 rows, ...
  std::map<int64_t, int64_t> IdentifiersByRows() const;

  const RowCounts& counts() const { return counts_; }
  std::vector<AttributeReport> reports() const;

 private:
  bool has_identifier() const { return !protection_.identifier.empty(); }
  bool IsNobody(std::string_view text) const;
  int64_t MarkWithoutIdentifier(const DuckDbChunk& chunk);
  void AppendIdentifiers(const DuckDbChunk& chunk);
  int64_t Keep(const std::vector<char>& is_kept);

  const RowLayout& layout_;
  const Domain& domain_;
  const Protection& protection_;
  const NullValues& null_values_;
  bool is_alone_;
  std::vector<ColumnReader> columns_;
  int64_t num_rows_ = 0;
  RowCounts counts_;
  std::vector<char> is_dropped_;  // of one chunk
  std::unordered_map<std::string, int64_t> identifier_numbers_;
  std::vector<int64_t> identifiers_;  // of each row of columns_
};

}  // namespace residua
