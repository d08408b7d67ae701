#include "residua/files/table_parquet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "residua/base/error.h"

namespace residua {
namespace {

// A column of doubles then takes two megabytes, and a table is found among a billion rows by
// looking at a few thousand row groups.
constexpr int64_t kTableRowGroupRows = int64_t{1} << 18;

AttributeSet AllOf(const TableLayout& layout) {
  AttributeSet all(layout.labels.size());
  std::iota(all.begin(), all.end(), 0);
  std::erase_if(all, [&](int i) { return layout.IsMean(static_cast<size_t>(i)); });
  return all;
}

std::vector<ParquetColumnType> ColumnTypesOf(const TableLayout& layout,
                                             const AttributeSet& attributes, bool is_one_file,
                                             bool has_means) {
  using Kind = ParquetColumnType::Kind;
  std::vector<ParquetColumnType> types;
  if (is_one_file) types.push_back({kTableColumn, Kind::kText, false});
  for (const int attribute : attributes) {
    const auto i = static_cast<size_t>(attribute);
    types.push_back({layout.names.columns[i], Kind::kText, is_one_file});
    for (const CompanionColumn& companion : layout.CompanionsAt(i)) {
      constexpr Kind kKinds[] = {Kind::kInteger, Kind::kDouble, Kind::kText};  // by index()
      types.push_back({companion.name, kKinds[companion.values.index()], is_one_file});
    }
  }
  const bool is_whole = layout.columns == TableColumns::kAdjustedWhole;
  for (const std::string& name : NumberColumnsOf(layout.columns)) {
    types.push_back({name, is_whole ? Kind::kInteger : Kind::kDouble, false});
  }
  if (has_means) {
    for (const char* name : kMeanNumberColumns) types.push_back({name, Kind::kDouble, false});
    types.push_back({kMeanNoteColumn, Kind::kText, false});
  }
  return types;
}

}  // namespace

std::vector<AxisDictionaries> AxisDictionariesOf(const TableLayout& layout) {
  std::vector<AxisDictionaries> dictionaries;
  for (size_t i = 0; i < layout.labels.size(); ++i) {
    dictionaries.push_back({DictionaryOf(layout.labels[i]), {}});
    for (const CompanionColumn& companion : layout.CompanionsAt(i)) {
      dictionaries.back().companions.push_back(
          std::visit([](const auto& values) { return DictionaryOf(values); }, companion.values));
    }
  }
  return dictionaries;
}

ParquetTables::ParquetTables(const std::filesystem::path& path, const TableLayout& layout,
                             const std::vector<AxisDictionaries>& dictionaries,
                             const AttributeSet* only, bool has_means)
    : layout_(layout),
      dictionaries_(dictionaries),
      is_one_file_(only == nullptr),
      has_means_(has_means && layout.columns == TableColumns::kEstimates),
      attributes_(is_one_file_ ? AllOf(layout) : *only),
      file_(path, ColumnTypesOf(layout, attributes_, is_one_file_, has_means_),
            {{"residua_about", layout.about}}),
      stretches_(attributes_.size()),
      num_entries_(attributes_.size()) {}

void ParquetTables::Add(const PublishedTable& table) {
  const int64_t size = std::ssize(table.estimates);
  for (int64_t first = 0; first < size;) {
    const int64_t count = std::min(size - first, kTableRowGroupRows - num_rows_);
    AddPiece(table, first, count);
    if (num_rows_ == kTableRowGroupRows) WriteRowGroup();
    first += count;
  }
}

void ParquetTables::AddPiece(const PublishedTable& table, int64_t first, int64_t count) {
  // A piece of the table that the row group ends with goes on with it.
  const bool continues = first == 0 && table.first > 0 && !pieces_.empty();
  if (continues) {
    pieces_.back().count += count;
  } else {
    pieces_.push_back({count, table.std_devs.size() == 1});
    if (is_one_file_) tables_.push_back(layout_.names.TableName(table.table()));
  }
  AddEntries(table, table.first + first, count, continues);
  AddNumbers(table, static_cast<size_t>(first), static_cast<size_t>(count), continues);
  if (has_means_) AddMeans(table, static_cast<size_t>(first), static_cast<size_t>(count));
  num_rows_ += count;
}

void ParquetTables::AddEntries(const PublishedTable& table, int64_t first, int64_t count,
                               bool continues) {
  int64_t repeat = 1;
  for (size_t axis = table.attributes.size(); axis-- > 0;) {
    const int i = table.attributes[axis];
    const auto found = std::lower_bound(attributes_.begin(), attributes_.end(), i);
    RESIDUA_CHECK(found != attributes_.end() && *found == i);
    const auto column = static_cast<size_t>(found - attributes_.begin());
    std::vector<EntryStretch>& stretches = stretches_[column];
    const int64_t num_without = num_rows_ - num_entries_[column];
    if (num_without > 0) stretches.push_back({.count = num_without, .size = 0});
    const auto size = std::ssize(layout_.labels[static_cast<size_t>(i)]);
    if (continues) {
      stretches.back().count += count;
    } else {
      stretches.push_back({.count = count, .size = size, .repeat = repeat, .first = first});
    }
    num_entries_[column] = num_rows_ + count;
    repeat *= size;
  }
}

void ParquetTables::AddNumbers(const PublishedTable& table, size_t first, size_t count,
                               bool continues) {
  const std::span<const double> estimates = table.estimates.subspan(first, count);
  if (layout_.columns == TableColumns::kAdjustedWhole) {
    for (const double estimate : estimates) whole_.push_back(WholeOf(estimate));
    return;
  }
  estimates_.insert(estimates_.end(), estimates.begin(), estimates.end());
  if (layout_.columns == TableColumns::kAdjusted) return;
  const bool has_one = table.std_devs.size() == 1;
  const auto std_devs = has_one ? table.std_devs : table.std_devs.subspan(first, count);
  if (!continues || !has_one) std_devs_.insert(std_devs_.end(), std_devs.begin(), std_devs.end());
  const size_t start = lower_.size();
  lower_.resize(start + count);
  upper_.resize(start + count);
  for (size_t k = 0; k < count; ++k) {
    const double half_width = table.interval_factor * std_devs[has_one ? 0 : k] + table.widening;
    lower_[start + k] = estimates[k] - half_width;
    upper_[start + k] = estimates[k] + half_width;
  }
}

void ParquetTables::AddMeans(const PublishedTable& table, size_t first, size_t count) {
  if (table.means == nullptr) {
    for (auto& column : means_) {
      column.insert(column.end(), count, std::numeric_limits<double>::quiet_NaN());
    }
    notes_.push_back({.count = static_cast<int64_t>(count), .size = 1});
    return;
  }
  const MeanColumns& means = *table.means;
  for (size_t row = first; row < first + count; ++row) {
    const double half_width = table.interval_factor * means.sum_std_devs[row];
    const double values[] = {means.sums[row],
                             means.sum_std_devs[row],
                             means.sums[row] - half_width,
                             means.sums[row] + half_width,
                             means.means[row],
                             means.mean_std_devs[row],
                             means.mean_lower[row],
                             means.mean_upper[row]};
    static_assert(std::size(values) == std::size(kMeanNumberColumns));
    for (size_t k = 0; k < means_.size(); ++k) means_[k].push_back(values[k]);
    const int64_t note = std::isnan(means.means[row]) ? 1 : 0;
    if (notes_.empty() || notes_.back().offset != note) {
      notes_.push_back({.count = 0, .size = 1, .offset = note});
    }
    ++notes_.back().count;
  }
}

std::vector<double> ParquetTables::StdDevsOfRows() const {
  std::vector<double> of_rows;
  of_rows.reserve(static_cast<size_t>(num_rows_));
  auto next = std_devs_.begin();
  for (const Piece& piece : pieces_) {
    if (piece.has_one_std_dev) {
      of_rows.insert(of_rows.end(), static_cast<size_t>(piece.count), *next++);
    } else {
      of_rows.insert(of_rows.end(), next, next + piece.count);
      next += piece.count;
    }
  }
  return of_rows;
}

void ParquetTables::WriteRowGroup() {
  // A stretch for each piece, with an entry of its own.
  std::vector<EntryStretch> by_piece;
  for (const Piece& piece : pieces_) {
    by_piece.push_back({.count = piece.count, .size = 1, .offset = std::ssize(by_piece)});
  }
  std::vector<ParquetColumnValues> columns;
  const ParquetDictionary tables = DictionaryOf(tables_);
  if (is_one_file_) columns.emplace_back(DictionaryColumn{&tables, by_piece});
  for (size_t k = 0; k < attributes_.size(); ++k) {
    if (num_entries_[k] < num_rows_) {
      stretches_[k].push_back({.count = num_rows_ - num_entries_[k], .size = 0});
    }
    const auto i = static_cast<size_t>(attributes_[k]);
    columns.emplace_back(DictionaryColumn{&dictionaries_[i].labels, stretches_[k]});
    for (const ParquetDictionary& companion : dictionaries_[i].companions) {
      columns.emplace_back(DictionaryColumn{&companion, stretches_[k]});
    }
  }
  ParquetDictionary std_devs;
  std::vector<double> std_devs_of_rows;
  if (layout_.columns == TableColumns::kAdjustedWhole) {
    columns.emplace_back(std::span<const int64_t>(whole_));
  } else {
    columns.emplace_back(std::span<const double>(estimates_));
  }
  if (layout_.columns == TableColumns::kEstimates) {
    const bool is_one_each = std::all_of(pieces_.begin(), pieces_.end(),
                                         [](const Piece& piece) { return piece.has_one_std_dev; });
    if (is_one_each) {
      std_devs = DictionaryOf(std_devs_);
      columns.emplace_back(DictionaryColumn{&std_devs, by_piece});
    } else {
      std_devs_of_rows = StdDevsOfRows();
      columns.emplace_back(std::span<const double>(std_devs_of_rows));
    }
    columns.emplace_back(std::span<const double>(lower_));
    columns.emplace_back(std::span<const double>(upper_));
  }
  const std::string notes[] = {"", kMeanNote};
  const ParquetDictionary note_dictionary = DictionaryOf(notes);
  if (has_means_) {
    for (const auto& column : means_) columns.emplace_back(std::span<const double>(column));
    columns.emplace_back(DictionaryColumn{&note_dictionary, notes_});
  }
  file_.WriteRowGroup(num_rows_, columns);

  num_rows_ = 0;
  pieces_.clear();
  tables_.clear();
  for (auto& stretches : stretches_) stretches.clear();
  std::fill(num_entries_.begin(), num_entries_.end(), 0);
  for (auto* numbers : {&estimates_, &std_devs_, &lower_, &upper_}) numbers->clear();
  whole_.clear();
  for (auto& column : means_) column.clear();
  notes_.clear();
}

void ParquetTables::Finish(Durability durability) {
  if (num_rows_ > 0) WriteRowGroup();
  file_.Finish(durability);
}

}  // namespace residua
