#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "residua/data/duckdb_connection.h"
#include "residua/data/null_values.h"
#include "residua/data/value_encoder.h"
#include "residua/measure/encoded_table.h"

namespace residua {

// How a column leaves DuckDB.
enum class ValueKind {
  kInteger,
  kNumber,
  kText,
  kNumberText,  // a number as SQL prints it
};
std::string_view SqlType(ValueKind kind);

// Collects the codes of one column, chunk after chunk: Encode, which several columns may do at
// once, then CheckValues and MarkDropped, then Append.
class ColumnReader {
 public:
  // `file` names the source in messages. Keeps a view of `null_values`.
  ColumnReader(const Attribute& attribute, ValueKind kind, const std::string& file,
               OutsideValues outside_values, const NullValues& null_values);

  // Encodes this column of the chunk, whose first row comes after `num_rows_before` others.
  void Encode(const DuckDbChunk& chunk, int column, int64_t num_rows_before);
  // Throws the error for which a value of the chunk was refused, if there is one.
  void CheckValues() const;
  // Marks the rows that are left out because of their value here; returns whether there are any.
  bool MarkDropped(std::vector<char>& is_dropped) const;
  // Appends the chunk's codes: all of them, or those of the rows that are not marked.
  void Append();
  void Append(const std::vector<char>& is_dropped);

  const AttributeReport& report() const { return encoder_->report(); }
  CodeColumn& codes() { return codes_; }

 private:
  template <typename Value>
  void EncodeValues(const Value* values, const uint64_t* validity, int64_t num_rows_before);
  template <typename Number>
  int32_t EncodeNumber(Number value, int64_t row);
  int32_t EncodeText(std::string_view text, int64_t row);
  int32_t EncodeText(const duckdb_string_t& text, int64_t row);

  // A short text as DuckDB holds it, length and characters, and its code.
  struct KnownText {
    uint64_t first = 0;  // the first 8 of its 16 bytes
    uint64_t last = 0;
    int32_t code = 0;
  };

  // A number, and its code.
  struct KnownNumber {
    uint64_t bits = 0;
    int32_t code = -1;  // none yet
  };

  ValueKind kind_;
  const NullValues* null_values_;
  std::unique_ptr<ValueEncoder> encoder_;
  CodeColumn codes_;
  std::vector<int32_t> chunk_codes_;
  // Short texts that were found to have a cell, each in the slot of its hash: a column has few
  // different texts, and reading one as a number or a date takes longer than finding it here.
  std::vector<KnownText> known_texts_;
  // The same for numbers.
  std::vector<KnownNumber> known_numbers_;
  std::exception_ptr refusal_;
};

}  // namespace residua
