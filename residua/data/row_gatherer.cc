#include "residua/data/row_gatherer.h"

#include <algorithm>
#include <utility>

#include "residua/base/threads.h"
#include "residua/measure/choose_rows.h"

namespace residua {

RowGatherer::RowGatherer(const RowLayout& layout, const Domain& domain,
                         const Protection& protection, OutsideValues outside_values,
                         const NullValues& null_values, bool is_alone)
    : layout_(layout),
      domain_(domain),
      protection_(protection),
      null_values_(null_values),
      is_alone_(is_alone) {
  for (int i = 0; i < domain.size(); ++i) {
    columns_.emplace_back(domain[i], layout.kinds[static_cast<size_t>(i)], layout.file,
                          outside_values, null_values);
  }
}

void RowGatherer::Append(const DuckDbChunk& chunk, int64_t num_rows_before) {
  if (is_alone_) {
    ParallelFor(0, domain_.size(),
                [&](int i) { columns_[static_cast<size_t>(i)].Encode(chunk, i, num_rows_before); });
  } else {
    for (int i = 0; i < domain_.size(); ++i) columns_[static_cast<size_t>(i)].Place(chunk, i);
  }
  is_dropped_.assign(static_cast<size_t>(chunk.num_rows()), 0);
  bool is_any_dropped = false;
  for (const ColumnReader& column : columns_) {
    column.CheckValues();
    if (column.MarkDropped(is_dropped_)) is_any_dropped = true;
  }
  counts_.num_dropped += std::count(is_dropped_.begin(), is_dropped_.end(), 1);
  if (has_identifier()) {
    const int64_t num_unowned = MarkWithoutIdentifier(chunk);
    counts_.num_without_identifier += num_unowned;
    if (num_unowned > 0) is_any_dropped = true;
  }
  for (ColumnReader& column : columns_) {
    if (is_any_dropped) {
      column.Append(is_dropped_);
    } else {
      column.Append();
    }
  }
  if (has_identifier()) AppendIdentifiers(chunk);
  num_rows_ += std::count(is_dropped_.begin(), is_dropped_.end(), 0);
  counts_.num_read += chunk.num_rows();
}

EncodedTable RowGatherer::TakeRows() {
  std::vector<CodeColumn> codes;
  for (size_t i = 0; i < columns_.size(); ++i) {
    codes.push_back(
        std::exchange(columns_[i].codes(), EmptyCodeColumn(domain_[static_cast<int>(i)])));
  }
  num_rows_ = 0;
  identifiers_.clear();
  return EncodedTable(domain_, std::move(codes));
}

void RowGatherer::MakeRoomFor(int64_t num_rows) {
  for (ColumnReader& column : columns_) {
    std::visit([&](auto& codes) { codes.reserve(static_cast<size_t>(num_rows)); }, column.codes());
  }
}

void RowGatherer::UseMemoryOf(EncodedTable&& rows) {
  std::vector<CodeColumn> codes = std::move(rows).TakeColumns();
  for (size_t i = 0; i < columns_.size(); ++i) {
    std::visit([](auto& of_column) { of_column.clear(); }, codes[i]);
    columns_[i].codes() = std::move(codes[i]);
  }
}

std::vector<AttributeReport> RowGatherer::reports() const {
  std::vector<AttributeReport> reports;
  for (const ColumnReader& column : columns_) reports.push_back(column.report());
  return reports;
}

// Whether the text of an identifier means that it is missing.
bool RowGatherer::IsNobody(std::string_view text) const {
  if (!layout_.is_number_identifier) return null_values_.Contains(text);
  return text == "nan" || null_values_.ContainsNumber(text);
}

// Marks the rows without an identifier; returns how many of them were not marked before.
int64_t RowGatherer::MarkWithoutIdentifier(const DuckDbChunk& chunk) {
  const uint64_t* validity = chunk.Validity(domain_.size());
  const auto* values = chunk.Values<duckdb_string_t>(domain_.size());
  int64_t num_marked = 0;
  for (size_t row = 0; row < is_dropped_.size(); ++row) {
    if (is_dropped_[row]) continue;
    if (!IsMissing(validity, static_cast<int64_t>(row)) && !IsNobody(TextOf(values[row]))) {
      continue;
    }
    is_dropped_[row] = 1;
    ++num_marked;
  }
  return num_marked;
}

// Appends the identifier of each kept row; identifiers are numbered in order of appearance.
void RowGatherer::AppendIdentifiers(const DuckDbChunk& chunk) {
  const auto* values = chunk.Values<duckdb_string_t>(domain_.size());
  for (size_t row = 0; row < is_dropped_.size(); ++row) {
    if (is_dropped_[row]) continue;
    const auto next = static_cast<int64_t>(identifier_numbers_.size());
    identifiers_.push_back(
        identifier_numbers_.try_emplace(std::string(TextOf(values[row])), next).first->second);
  }
}

int64_t RowGatherer::KeepBoundedRows(BitSource& bits) {
  return Keep(ChooseRows(identifiers_, protection_.max_rows, bits));
}

int64_t RowGatherer::KeepBoundedRows(const SealingKey& key) {
  std::vector<std::string_view> names(identifier_numbers_.size());
  for (const auto& [name, number] : identifier_numbers_) names[static_cast<size_t>(number)] = name;
  std::vector<const CodeColumn*> columns;
  for (ColumnReader& column : columns_) columns.push_back(&column.codes());
  return Keep(ChooseRows(identifiers_, names, columns, protection_.max_rows, key));
}

// Returns how many rows are not kept.
int64_t RowGatherer::Keep(const std::vector<char>& is_kept) {
  for (ColumnReader& column : columns_) {
    std::visit(
        [&](auto& codes) {
          size_t kept = 0;
          for (size_t row = 0; row < codes.size(); ++row) {
            if (is_kept[row]) codes[kept++] = codes[row];
          }
          codes.resize(kept);
        },
        column.codes());
  }
  const int64_t num_over = std::count(is_kept.begin(), is_kept.end(), 0);
  num_rows_ -= num_over;
  return num_over;
}

std::map<int64_t, int64_t> RowGatherer::IdentifiersByRows() const {
  std::vector<int64_t> num_rows(identifier_numbers_.size());
  for (const int64_t identifier : identifiers_) ++num_rows[static_cast<size_t>(identifier)];
  std::map<int64_t, int64_t> by_rows;
  for (const int64_t number : num_rows) ++by_rows[number];
  return by_rows;
}

}  // namespace residua
