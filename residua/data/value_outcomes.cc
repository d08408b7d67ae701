#include "residua/data/value_outcomes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <memory>

namespace residua {
namespace {

// Four slots for each cell and more, so that few texts share one; a power of two.
size_t NumKnownTexts(int64_t num_cells) {
  return std::bit_ceil(static_cast<size_t>(std::clamp<int64_t>(4 * num_cells, 64, 4096)));
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

// Odd constants with random bits; the last multiplication brings all of them to the top.
uint64_t HashOfText(uint64_t first, uint64_t last) {
  uint64_t hash = (first * 0x9e3779b97f4a7c15) ^ last;
  hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93;
  return hash >> 40;
}

// What a report has counted so far.
struct NotedCounts {
  explicit NotedCounts(const AttributeReport& report)
      : dropped(report.num_dropped),
        clamped(report.num_clamped),
        nulled(report.num_nulled),
        missing(report.num_missing),
        outside(report.num_outside) {}
  int64_t dropped, clamped, nulled, missing, outside;
};

// What was counted between the two.
ValueNote NoteBetween(const NotedCounts& before, const NotedCounts& after) {
  if (after.outside > before.outside) return ValueNote::kTallied;
  const bool is_dropped = after.dropped > before.dropped;
  if (after.missing > before.missing) {
    return is_dropped ? ValueNote::kMissingDropped : ValueNote::kMissing;
  }
  if (is_dropped) return ValueNote::kDropped;
  if (after.clamped > before.clamped) return ValueNote::kClamped;
  return after.nulled > before.nulled ? ValueNote::kNulled : ValueNote::kNone;
}

}  // namespace

std::string_view SqlType(ValueKind kind) {
  constexpr std::array<std::string_view, 4> kSqlTypes = {"BIGINT", "DOUBLE", "VARCHAR", "VARCHAR"};
  return kSqlTypes[static_cast<size_t>(kind)];
}

int32_t EncodeValue(int64_t value, ValueKind, const NullValues& null_values, int64_t row,
                    ValueEncoder& encoder) {
  return null_values.Contains(value) ? encoder.EncodeMissing(row) : encoder.Encode(value, row);
}

int32_t EncodeValue(double value, ValueKind, const NullValues& null_values, int64_t row,
                    ValueEncoder& encoder) {
  return null_values.Contains(value) ? encoder.EncodeMissing(row) : encoder.Encode(value, row);
}

int32_t EncodeValue(const duckdb_string_t& value, ValueKind kind, const NullValues& null_values,
                    int64_t row, ValueEncoder& encoder) {
  const std::string_view text = TextOf(value);
  if (kind == ValueKind::kNumberText) {
    return null_values.ContainsNumber(text) ? encoder.EncodeMissing(row)
                                            : encoder.EncodeNumberText(text, row);
  }
  return null_values.Contains(text) ? encoder.EncodeMissing(row) : encoder.Encode(text, row);
}

int OutcomeBytes(const Attribute& attribute) {
  return NumCodes(attribute) * kNumValueNotes <= int64_t{std::numeric_limits<uint16_t>::max()} + 1
             ? 2
             : 4;
}

ValueOutcomes::ValueOutcomes(const Attribute& attribute, ValueKind kind, const std::string& file,
                             OutsideValues outside_values, const NullValues& null_values)
    : kind_(kind),
      size_(static_cast<uint32_t>(NumCodes(attribute))),
      null_values_(&null_values),
      encoder_(attribute, file, outside_values),
      known_texts_(NumKnownTexts(NumCodes(attribute))),
      known_numbers_(NumKnownNumbers(NumCodes(attribute))) {}

template <typename Value, typename Outcome>
void ValueOutcomes::Find(const Value* values, const uint64_t* validity,
                         std::span<Outcome> outcomes) {
  const auto find = [&](const Value& value) __attribute__((always_inline)) {
    if constexpr (std::integral<Value>) {
      return static_cast<Outcome>(OutcomeOf(static_cast<int64_t>(value)));
    } else if constexpr (std::floating_point<Value>) {
      return static_cast<Outcome>(OutcomeOf(static_cast<double>(value)));
    } else {
      return static_cast<Outcome>(OutcomeOf(value));
    }
  };
  if (validity == nullptr) {
    for (size_t row = 0; row < outcomes.size(); ++row) outcomes[row] = find(values[row]);
    return;
  }
  for (size_t row = 0; row < outcomes.size(); ++row) {
    outcomes[row] = IsMissing(validity, static_cast<int64_t>(row))
                        ? static_cast<Outcome>(OutcomeOfMissing())
                        : find(values[row]);
  }
}

[[gnu::always_inline]] inline uint32_t ValueOutcomes::OutcomeOf(const duckdb_string_t& text) {
  const size_t length = text.value.inlined.length;
  // Of a longer text DuckDB holds a pointer, and an empty one looks like a free slot.
  if (length == 0 || length > sizeof(text.value.inlined.inlined)) {
    return Noted([&] { return EncodeValue(text, kind_, *null_values_, 0, encoder_); });
  }
  uint64_t first = 0;
  uint64_t last = 0;
  static_assert(sizeof(text) == sizeof(first) + sizeof(last));
  std::memcpy(&first, &text, sizeof(first));
  std::memcpy(&last, reinterpret_cast<const char*>(&text) + sizeof(first), sizeof(last));
  const size_t mask = known_texts_.size() - 1;
  size_t slot = HashOfText(first, last) & mask;
  for (; known_texts_[slot].first != 0; slot = (slot + 1) & mask) {
    const KnownText& known = known_texts_[slot];
    if (known.first == first && known.last == last) return known.outcome;
  }
  return NewText(text, first, last, slot);
}

[[gnu::noinline]] uint32_t ValueOutcomes::NewText(const duckdb_string_t& text, uint64_t first,
                                                  uint64_t last, size_t slot) {
  const uint32_t outcome =
      Noted([&] { return EncodeValue(text, kind_, *null_values_, 0, encoder_); });
  if (2 * num_known_texts_ < known_texts_.size()) {
    known_texts_[slot] = {first, last, outcome};
    ++num_known_texts_;
  }
  return outcome;
}

[[gnu::always_inline]] inline uint32_t ValueOutcomes::OutcomeOf(int64_t value) {
  KnownNumber& known = known_numbers_[HashOfNumber(value) & (known_numbers_.size() - 1)];
  if (known.bits == std::bit_cast<uint64_t>(value) && known.outcome != kUnknown) {
    return known.outcome;
  }
  return NewNumber(value, &known);
}

[[gnu::always_inline]] inline uint32_t ValueOutcomes::OutcomeOf(double value) {
  KnownNumber& known = known_numbers_[HashOfNumber(value) & (known_numbers_.size() - 1)];
  if (known.bits == std::bit_cast<uint64_t>(value) && known.outcome != kUnknown) {
    return known.outcome;
  }
  return NewNumber(value, &known);
}

template <typename Number>
[[gnu::noinline]] uint32_t ValueOutcomes::NewNumber(Number value, KnownNumber* known) {
  const uint32_t outcome =
      Noted([&] { return EncodeValue(value, kind_, *null_values_, 0, encoder_); });
  *known = {std::bit_cast<uint64_t>(value), outcome};
  return outcome;
}

uint32_t ValueOutcomes::OutcomeOfMissing() {
  if (missing_outcome_ == kUnknown) {
    missing_outcome_ = Noted([&] { return encoder_.EncodeMissing(0); });
  }
  return missing_outcome_;
}

template <typename Encode>
uint32_t ValueOutcomes::Noted(const Encode& encode) {
  const NotedCounts before(encoder_.report());
  int32_t cell = 0;
  ValueNote note = ValueNote::kRefused;
  try {
    cell = std::max(encode(), 0);
    note = NoteBetween(before, NotedCounts(encoder_.report()));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadInput) throw;
  }
  return static_cast<uint32_t>(note) * size_ + static_cast<uint32_t>(cell);
}

// For each type that DuckDB hands over, and each width of outcomes.
#define RESIDUA_FIND_OUTCOMES(Value)                                                              \
  template void ValueOutcomes::Find(const Value*, const uint64_t*, std::span<uint16_t> outcomes); \
  template void ValueOutcomes::Find(const Value*, const uint64_t*, std::span<uint32_t> outcomes);
RESIDUA_FIND_OUTCOMES(int8_t)
RESIDUA_FIND_OUTCOMES(int16_t)
RESIDUA_FIND_OUTCOMES(int32_t)
RESIDUA_FIND_OUTCOMES(int64_t)
RESIDUA_FIND_OUTCOMES(uint8_t)
RESIDUA_FIND_OUTCOMES(uint16_t)
RESIDUA_FIND_OUTCOMES(uint32_t)
RESIDUA_FIND_OUTCOMES(float)
RESIDUA_FIND_OUTCOMES(double)
RESIDUA_FIND_OUTCOMES(duckdb_string_t)
#undef RESIDUA_FIND_OUTCOMES

}  // namespace residua
