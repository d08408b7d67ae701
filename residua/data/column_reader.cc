#include "residua/data/column_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <variant>

namespace residua {
namespace {

// Sixteen slots for each cell, so that few texts share one; a power of two.
size_t NumKnownTexts(int64_t num_cells) {
  return std::bit_ceil(static_cast<size_t>(std::clamp<int64_t>(16 * num_cells, 64, 4096)));
}

// One slot for each cell and more: the integers of a range do not share any. A power of two.
size_t NumKnownNumbers(int64_t num_cells) {
  return std::bit_ceil(static_cast<size_t>(std::clamp<int64_t>(2 * num_cells, 64, 65536)));
}

// Integers follow each other in their low bits, doubles in their high bits.
uint64_t HashOfNumber(int64_t value) { return static_cast<uint64_t>(value); }
uint64_t HashOfNumber(double value) {
  return std::bit_cast<uint64_t>(value) * 0x9e3779b97f4a7c15 >> 40;
}

// How many values the report has counted.
int64_t NumNoted(const AttributeReport& report) {
  return report.num_dropped + report.num_clamped + report.num_nulled + report.num_missing +
         report.num_outside;
}

}  // namespace

std::string_view SqlType(ValueKind kind) {
  constexpr std::array<std::string_view, 4> kSqlTypes = {"BIGINT", "DOUBLE", "VARCHAR", "VARCHAR"};
  return kSqlTypes[static_cast<size_t>(kind)];
}

ColumnReader::ColumnReader(const Attribute& attribute, ValueKind kind, const std::string& file,
                           OutsideValues outside_values, const NullValues& null_values)
    : kind_(kind),
      null_values_(&null_values),
      encoder_(std::make_unique<ValueEncoder>(attribute, file, outside_values)),
      codes_(EmptyCodeColumn(attribute)),
      known_texts_(NumKnownTexts(NumCodes(attribute))),
      known_numbers_(NumKnownNumbers(NumCodes(attribute))) {}

void ColumnReader::Encode(const DuckDbChunk& chunk, int column, int64_t num_rows_before) {
  chunk_codes_.resize(static_cast<size_t>(chunk.num_rows()));
  const uint64_t* validity = chunk.Validity(column);
  try {
    switch (kind_) {
      case ValueKind::kInteger:
        EncodeValues(chunk.Values<int64_t>(column), validity, num_rows_before);
        break;
      case ValueKind::kNumber:
        EncodeValues(chunk.Values<double>(column), validity, num_rows_before);
        break;
      case ValueKind::kText:
      case ValueKind::kNumberText:
        EncodeValues(chunk.Values<duckdb_string_t>(column), validity, num_rows_before);
        break;
    }
  } catch (...) {
    refusal_ = std::current_exception();
  }
}

template <typename Value>
void ColumnReader::EncodeValues(const Value* values, const uint64_t* validity,
                                int64_t num_rows_before) {
  for (size_t row = 0; row < chunk_codes_.size(); ++row) {
    const int64_t row_number = num_rows_before + static_cast<int64_t>(row) + 1;
    if (IsMissing(validity, static_cast<int64_t>(row))) {
      chunk_codes_[row] = encoder_->EncodeMissing(row_number);
    } else if constexpr (std::is_same_v<Value, duckdb_string_t>) {
      chunk_codes_[row] = EncodeText(values[row], row_number);
    } else {
      chunk_codes_[row] = EncodeNumber(values[row], row_number);
    }
  }
}

template <typename Number>
int32_t ColumnReader::EncodeNumber(Number value, int64_t row) {
  const auto bits = std::bit_cast<uint64_t>(value);
  KnownNumber& known = known_numbers_[HashOfNumber(value) & (known_numbers_.size() - 1)];
  if (known.bits == bits && known.code >= 0) return known.code;
  const int64_t num_noted = NumNoted(encoder_->report());
  const int32_t code =
      null_values_->Contains(value) ? encoder_->EncodeMissing(row) : encoder_->Encode(value, row);
  // What the report counts must be counted again next time.
  if (NumNoted(encoder_->report()) == num_noted) known = {bits, code};
  return code;
}

int32_t ColumnReader::EncodeText(const duckdb_string_t& text, int64_t row) {
  const size_t length = text.value.inlined.length;
  // Of a longer text DuckDB holds a pointer, and an empty one looks like a free slot.
  if (length == 0 || length > sizeof(text.value.inlined.inlined)) {
    return EncodeText(TextOf(text), row);
  }
  uint64_t first = 0;
  uint64_t last = 0;
  static_assert(sizeof(text) == sizeof(first) + sizeof(last));
  std::memcpy(&first, &text, sizeof(first));
  std::memcpy(&last, reinterpret_cast<const char*>(&text) + sizeof(first), sizeof(last));
  // Odd constants with random bits; the last multiplication brings all of them to the top.
  uint64_t hash = (first * 0x9e3779b97f4a7c15) ^ last;
  hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
  KnownText& known = known_texts_[hash >> 40 & (known_texts_.size() - 1)];
  if (known.first == first && known.last == last) return known.code;
  const int64_t num_noted = NumNoted(encoder_->report());
  const int32_t code = EncodeText(TextOf(text), row);
  // What the report counts must be counted again next time.
  if (NumNoted(encoder_->report()) == num_noted) known = {first, last, code};
  return code;
}

int32_t ColumnReader::EncodeText(std::string_view text, int64_t row) {
  if (kind_ == ValueKind::kNumberText) {
    return null_values_->ContainsNumber(text) ? encoder_->EncodeMissing(row)
                                              : encoder_->EncodeNumberText(text, row);
  }
  return null_values_->Contains(text) ? encoder_->EncodeMissing(row) : encoder_->Encode(text, row);
}

void ColumnReader::CheckValues() const {
  if (refusal_ != nullptr) std::rethrow_exception(refusal_);
}

bool ColumnReader::MarkDropped(std::vector<char>& is_dropped) const {
  int32_t least = 0;
  for (const int32_t code : chunk_codes_) least = std::min(least, code);
  if (least != ValueEncoder::kDropRow) return false;
  for (size_t row = 0; row < chunk_codes_.size(); ++row) {
    if (chunk_codes_[row] == ValueEncoder::kDropRow) is_dropped[row] = 1;
  }
  return true;
}

void ColumnReader::Append() {
  std::visit(
      [&](auto& codes) { codes.insert(codes.end(), chunk_codes_.begin(), chunk_codes_.end()); },
      codes_);
}

void ColumnReader::Append(const std::vector<char>& is_dropped) {
  std::visit(
      [&](auto& codes) {
        using Code = typename std::decay_t<decltype(codes)>::value_type;
        for (size_t row = 0; row < chunk_codes_.size(); ++row) {
          if (!is_dropped[row]) codes.push_back(static_cast<Code>(chunk_codes_[row]));
        }
      },
      codes_);
}

}  // namespace residua
