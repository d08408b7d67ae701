#include "residua/data/column_reader.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <variant>

namespace residua {

std::string_view SqlType(ValueKind kind) {
  constexpr std::array<std::string_view, 4> kSqlTypes = {"BIGINT", "DOUBLE", "VARCHAR", "VARCHAR"};
  return kSqlTypes[static_cast<size_t>(kind)];
}

ColumnReader::ColumnReader(const Attribute& attribute, ValueKind kind, const std::string& file,
                           OutsideValues outside_values, const NullValues& null_values)
    : kind_(kind),
      null_values_(&null_values),
      encoder_(std::make_unique<ValueEncoder>(attribute, file, outside_values)),
      codes_(EmptyCodeColumn(attribute)) {}

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
      chunk_codes_[row] = EncodeText(TextOf(values[row]), row_number);
    } else if (null_values_->Contains(values[row])) {
      chunk_codes_[row] = encoder_->EncodeMissing(row_number);
    } else {
      chunk_codes_[row] = encoder_->Encode(values[row], row_number);
    }
  }
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
