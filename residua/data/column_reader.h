#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "residua/data/duckdb_connection.h"
#include "residua/data/null_values.h"
#include "residua/data/value_encoder.h"
#include "residua/data/value_outcomes.h"
#include "residua/measure/encoded_table.h"

namespace residua {

// Collects the codes of one column, chunk after chunk: Encode or Place, which several columns may
// do at once, then CheckValues and MarkDropped, then Append.
class ColumnReader {
 public:
  // `file` names the source in messages. Keeps views of `attribute` and `null_values`.
  ColumnReader(const Attribute& attribute, ValueKind kind, const std::string& file,
               OutsideValues outside_values, const NullValues& null_values);

  // Encodes the values in this column of the chunk, whose first row comes after `num_rows_before`
  // others.
  void Encode(const DuckDbChunk& chunk, int column, int64_t num_rows_before);
  // The same where the column holds outcomes (ValueOutcomes) instead of values. Which row was
  // refused, and why, is not known then.
  void Place(const DuckDbChunk& chunk, int column);
  // Throws the error for which a value of the chunk was refused, if there is one.
  void CheckValues() const;
  // Marks the rows that are left out because of their value here; returns whether there are any.
  bool MarkDropped(std::vector<char>& is_dropped) const;
  // Appends the chunk's codes: all of them, or those of the rows that are not marked.
  void Append();
  void Append(const std::vector<char>& is_dropped);

  AttributeReport report() const;
  CodeColumn& codes() { return codes_; }

 private:
  // What finds the codes of values.
  struct Values {
    ValueOutcomes outcomes;
    ValueEncoder encoder;  // of those with a note, to report or refuse them
    std::vector<uint32_t> of_chunk;
  };

  template <typename Value>
  void EncodeValues(const Value* values, const uint64_t* validity, int64_t num_rows_before);
  template <typename Outcome>
  void PlaceOutcomes(const Outcome* outcomes);
  int32_t PlaceNoted(uint32_t outcome);

  const Attribute& attribute_;
  ValueKind kind_;
  const std::string& file_;
  OutsideValues outside_values_;
  const NullValues& null_values_;
  int64_t num_codes_;
  std::unique_ptr<Values> values_;  // none before the first Encode
  AttributeReport placed_;          // of the outcomes that were placed
  CodeColumn codes_;
  std::vector<int32_t> chunk_codes_;
  bool has_dropped_ = false;  // the chunk
  std::exception_ptr refusal_;
};

}  // namespace residua
