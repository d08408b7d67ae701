#include "residua/data/column_reader.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "residua/base/error.h"
#include "residua/base/vectorised.h"

namespace residua {
namespace {

// Copies the outcomes; returns the largest.
template <typename Outcome>
[[gnu::always_inline]] inline uint32_t CopyOutcomes(const Outcome* __restrict outcomes,
                                                    size_t num_rows, int32_t* __restrict codes) {
  Outcome largest = 0;
  for (size_t row = 0; row < num_rows; ++row) {
    codes[row] = static_cast<int32_t>(outcomes[row]);
    largest = std::max(largest, outcomes[row]);
  }
  return largest;
}

template <typename Code>
[[gnu::always_inline]] inline void NarrowCodes(const int32_t* __restrict codes, size_t num_rows,
                                               Code* __restrict narrow) {
  for (size_t row = 0; row < num_rows; ++row) narrow[row] = static_cast<Code>(codes[row]);
}

// For each width, because templates are not compiled for AVX2.
RESIDUA_VECTORISED uint32_t Copied(const uint16_t* outcomes, size_t num_rows, int32_t* codes) {
  return CopyOutcomes(outcomes, num_rows, codes);
}
RESIDUA_VECTORISED uint32_t Copied(const uint32_t* outcomes, size_t num_rows, int32_t* codes) {
  return CopyOutcomes(outcomes, num_rows, codes);
}
RESIDUA_VECTORISED void Narrow(const int32_t* codes, size_t num_rows, uint8_t* narrow) {
  NarrowCodes(codes, num_rows, narrow);
}
RESIDUA_VECTORISED void Narrow(const int32_t* codes, size_t num_rows, uint16_t* narrow) {
  NarrowCodes(codes, num_rows, narrow);
}
RESIDUA_VECTORISED void Narrow(const int32_t* codes, size_t num_rows, uint32_t* narrow) {
  NarrowCodes(codes, num_rows, narrow);
}

}  // namespace

ColumnReader::ColumnReader(const Attribute& attribute, ValueKind kind, const std::string& file,
                           OutsideValues outside_values, const NullValues& null_values)
    : attribute_(attribute),
      kind_(kind),
      file_(file),
      outside_values_(outside_values),
      null_values_(null_values),
      num_codes_(NumCodes(attribute)),
      codes_(EmptyCodeColumn(attribute)) {}

void ColumnReader::Encode(const DuckDbChunk& chunk, int column, int64_t num_rows_before) {
  chunk_codes_.resize(static_cast<size_t>(chunk.num_rows()));
  const uint64_t* validity = chunk.Validity(column);
  try {
    if (values_ == nullptr) {
      values_.reset(new Values{{attribute_, kind_, file_, outside_values_, null_values_},
                               {attribute_, file_, outside_values_},
                               {}});
    }
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
  const size_t num_rows = chunk_codes_.size();
  values_->of_chunk.resize(num_rows);
  values_->outcomes.Find(values, validity, std::span(values_->of_chunk));
  has_dropped_ = false;
  if (Copied(values_->of_chunk.data(), num_rows, chunk_codes_.data()) < num_codes_) return;
  ValueEncoder& encoder = values_->encoder;
  for (size_t row = 0; row < num_rows; ++row) {
    if (values_->of_chunk[row] < num_codes_) continue;
    const int64_t row_number = num_rows_before + static_cast<int64_t>(row) + 1;
    chunk_codes_[row] = IsMissing(validity, static_cast<int64_t>(row))
                            ? encoder.EncodeMissing(row_number)
                            : EncodeValue(values[row], kind_, null_values_, row_number, encoder);
    if (chunk_codes_[row] == ValueEncoder::kDropRow) has_dropped_ = true;
  }
}

void ColumnReader::Place(const DuckDbChunk& chunk, int column) {
  chunk_codes_.resize(static_cast<size_t>(chunk.num_rows()));
  try {
    if (OutcomeBytes(attribute_) == sizeof(uint16_t)) {
      PlaceOutcomes(chunk.Values<uint16_t>(column));
    } else {
      PlaceOutcomes(chunk.Values<uint32_t>(column));
    }
  } catch (...) {
    refusal_ = std::current_exception();
  }
}

template <typename Outcome>
void ColumnReader::PlaceOutcomes(const Outcome* outcomes) {
  has_dropped_ = false;
  const size_t num_rows = chunk_codes_.size();
  if (Copied(outcomes, num_rows, chunk_codes_.data()) < num_codes_) return;
  for (size_t row = 0; row < num_rows; ++row) {
    if (outcomes[row] < num_codes_) continue;
    chunk_codes_[row] = PlaceNoted(outcomes[row]);
    if (chunk_codes_[row] == ValueEncoder::kDropRow) has_dropped_ = true;
  }
}

int32_t ColumnReader::PlaceNoted(uint32_t outcome) {
  const auto size = static_cast<uint32_t>(num_codes_);
  const auto cell = static_cast<int32_t>(outcome % size);
  switch (static_cast<ValueNote>(outcome / size)) {
    case ValueNote::kNone:
      return cell;
    case ValueNote::kMissing:
      ++placed_.num_missing;
      return cell;
    case ValueNote::kMissingDropped:
      ++placed_.num_missing;
      ++placed_.num_dropped;
      return ValueEncoder::kDropRow;
    case ValueNote::kDropped:
      ++placed_.num_dropped;
      return ValueEncoder::kDropRow;
    case ValueNote::kClamped:
      ++placed_.num_clamped;
      return cell;
    case ValueNote::kNulled:
      ++placed_.num_nulled;
      return cell;
    case ValueNote::kRefused:
      Fail(ErrorKind::kBadInput, "{}: a value of attribute '{}' is refused", file_,
           attribute_.name);
    case ValueNote::kTallied:
      break;
  }
  RESIDUA_CHECK(false);  // no outcome, or one of a survey
}

AttributeReport ColumnReader::report() const {
  return values_ == nullptr ? placed_ : values_->encoder.report();
}

void ColumnReader::CheckValues() const {
  if (refusal_ != nullptr) std::rethrow_exception(refusal_);
}

bool ColumnReader::MarkDropped(std::vector<char>& is_dropped) const {
  if (!has_dropped_) return false;
  for (size_t row = 0; row < chunk_codes_.size(); ++row) {
    if (chunk_codes_[row] == ValueEncoder::kDropRow) is_dropped[row] = 1;
  }
  return true;
}

void ColumnReader::Append() {
  std::visit(
      [&](auto& codes) {
        const size_t num_before = codes.size();
        codes.resize(num_before + chunk_codes_.size());
        Narrow(chunk_codes_.data(), chunk_codes_.size(), codes.data() + num_before);
      },
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
