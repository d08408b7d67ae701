#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
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

// The code of a value, or kDropRow, as `encoder` finds it; a value that `null_values` lists is
// missing. `kind` is that of the column.
int32_t EncodeValue(int64_t value, ValueKind kind, const NullValues& null_values, int64_t row,
                    ValueEncoder& encoder);
int32_t EncodeValue(double value, ValueKind kind, const NullValues& null_values, int64_t row,
                    ValueEncoder& encoder);
int32_t EncodeValue(const duckdb_string_t& value, ValueKind kind, const NullValues& null_values,
                    int64_t row, ValueEncoder& encoder);

// What a report counts of a value, beside its code.
enum class ValueNote {
  kNone,
  kMissing,
  kMissingDropped,
  kDropped,
  kClamped,
  kNulled,
  kTallied,  // with OutsideValues::kTally: counted as outside, and maybe more
  kRefused,
};
inline constexpr int64_t kNumValueNotes = 8;

// The bytes that hold any outcome of an attribute: 2 or 4.
int OutcomeBytes(const Attribute& attribute);

// What becomes of each value of a column, as a number: note * size + code, with `size` the
// attribute's NumCodes, and code 0 where there is none. The number follows from the value alone, so that it may be found once for all rows with the value. Nothing is reported and nothing
// refused here: whoever places the rows looks at the notes. One thread at a time uses it.
class ValueOutcomes {
 public:
  // Keeps a view of `null_values`.
  ValueOutcomes(const Attribute& attribute, ValueKind kind, const std::string& file,
                OutsideValues outside_values, const NullValues& null_values);

  // One outcome for each value, where `validity` is as DuckDbChunk::Validity. Values are integers,
  // floating-point numbers or duckdb_string_t, as the kind says; an outcome has OutcomeBytes.
  template <typename Value, typename Outcome>
  void Find(const Value* values, const uint64_t* validity, std::span<Outcome> outcomes);

 private:
  // A short text as DuckDB holds it, length and characters, and its outcome.
  struct KnownText {
    uint64_t first = 0;  // the first 8 of its 16 bytes; a free slot has an empty text's
    uint64_t last = 0;
    uint32_t outcome = 0;
  };
  // A number, and its outcome.
  struct KnownNumber {
    uint64_t bits = 0;
    uint32_t outcome = kUnknown;
  };
  static constexpr uint32_t kUnknown = ~uint32_t{0};
  // Every outcome fits, and none is kUnknown; the missing value is one code more.
  static_assert(std::max(kMaxEncodedSize, kMaxMeanSteps + 2) * kNumValueNotes < kUnknown);

  uint32_t OutcomeOf(int64_t value);
  uint32_t OutcomeOf(double value);
  uint32_t OutcomeOf(const duckdb_string_t& text);
  uint32_t OutcomeOfMissing();
  uint32_t NewText(const duckdb_string_t& text, uint64_t first, uint64_t last, size_t slot);
  template <typename Number>
  uint32_t NewNumber(Number value, KnownNumber* known);
  template <typename Encode>
  uint32_t Noted(const Encode& encode);

  ValueKind kind_;
  uint32_t size_;
  const NullValues* null_values_;
  ValueEncoder encoder_;
  // Short texts that were looked up, by hash, with open addressing: a column has few different
  // texts, and reading one as a number or a date takes longer than finding it here. At most half
  // full: later texts are looked up again.
  std::vector<KnownText> known_texts_;
  size_t num_known_texts_ = 0;
  // The same for numbers, each in the one slot of its hash.
  std::vector<KnownNumber> known_numbers_;
  uint32_t missing_outcome_ = kUnknown;
};

}  // namespace residua
