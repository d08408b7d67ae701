#include "residua/data/outcome_column.h"

#include <span>
#include <utility>

#include "residua/base/error.h"
#include "residua/data/relation.h"

namespace residua {

OutcomeColumn::OutcomeColumn(const Attribute& attribute, ValueKind kind, const std::string& file,
                             const NullValues& null_values)
    : attribute_(attribute), kind_(kind), file_(file), null_values_(null_values) {}

duckdb_type OutcomeColumn::type() const {
  return OutcomeBytes(attribute_) == sizeof(uint16_t) ? DUCKDB_TYPE_USMALLINT
                                                      : DUCKDB_TYPE_UINTEGER;
}

void OutcomeColumn::Find(const DuckDbChunk& chunk, void* outcomes) {
  std::unique_ptr<ValueOutcomes> finder;
  {
    const std::lock_guard<std::mutex> lock(choosing_);
    if (!free_.empty()) {
      finder = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (finder == nullptr) {
    finder = std::make_unique<ValueOutcomes>(attribute_, kind_, file_, OutsideValues::kPlace,
                                             null_values_);
  }
  if (type() == DUCKDB_TYPE_USMALLINT) {
    FindOfType(chunk, static_cast<uint16_t*>(outcomes), *finder);
  } else {
    FindOfType(chunk, static_cast<uint32_t*>(outcomes), *finder);
  }
  const std::lock_guard<std::mutex> lock(choosing_);
  free_.push_back(std::move(finder));
}

template <typename Outcome>
void OutcomeColumn::FindOfType(const DuckDbChunk& chunk, Outcome* outcomes,
                               ValueOutcomes& finder) const {
  const std::span<Outcome> all(outcomes, static_cast<size_t>(chunk.num_rows()));
  const uint64_t* validity = chunk.Validity(0);
  const duckdb_type type = chunk.Type(0);
  if (kind_ == ValueKind::kInteger) {
    switch (type) {
      case DUCKDB_TYPE_TINYINT:
        return finder.Find(chunk.Values<int8_t>(0), validity, all);
      case DUCKDB_TYPE_SMALLINT:
        return finder.Find(chunk.Values<int16_t>(0), validity, all);
      case DUCKDB_TYPE_INTEGER:
        return finder.Find(chunk.Values<int32_t>(0), validity, all);
      case DUCKDB_TYPE_BIGINT:
        return finder.Find(chunk.Values<int64_t>(0), validity, all);
      case DUCKDB_TYPE_UTINYINT:
        return finder.Find(chunk.Values<uint8_t>(0), validity, all);
      case DUCKDB_TYPE_USMALLINT:
        return finder.Find(chunk.Values<uint16_t>(0), validity, all);
      case DUCKDB_TYPE_UINTEGER:
        return finder.Find(chunk.Values<uint32_t>(0), validity, all);
      default:
        break;
    }
  } else if (kind_ == ValueKind::kNumber) {
    if (type == DUCKDB_TYPE_FLOAT) return finder.Find(chunk.Values<float>(0), validity, all);
    if (type == DUCKDB_TYPE_DOUBLE) return finder.Find(chunk.Values<double>(0), validity, all);
  } else if (type == DUCKDB_TYPE_VARCHAR) {
    return finder.Find(chunk.Values<duckdb_string_t>(0), validity, all);
  }
  Fail(ErrorKind::kBroken, "{}: the column of attribute '{}' came in a type that was not asked for",
       file_, attribute_.name);
}

bool IsReadAsStored(const std::string& sql_type, ValueKind kind) {
  switch (kind) {
    case ValueKind::kInteger:
      return ColumnTypeOf(sql_type) == ColumnType::kInteger;
    case ValueKind::kNumber:
      return ColumnTypeOf(sql_type) == ColumnType::kFloat;
    case ValueKind::kText:
      return sql_type == "VARCHAR";
    case ValueKind::kNumberText:
      return false;
  }
  RESIDUA_CHECK(false);
}

}  // namespace residua
