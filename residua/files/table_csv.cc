#include "residua/files/table_csv.h"

#include <fmt/compile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "residua/base/error.h"
#include "residua/base/rounded_text.h"
#include "residua/files/file.h"

namespace residua {
namespace {

// Rows are made into text in stretches of this size, about half a megabyte each: it stays in the
// cache, and a thread is worth waking for it.
constexpr int64_t kStretchRows = 1 << 13;

// What fmt writes of a double at most.
constexpr size_t kMaxFullChars = 32;

// In quotes where CSV needs them.
std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// What is missing is an empty field. R, pandas and DuckDB all read Inf.
std::string ValueField(double value) {
  if (std::isnan(value)) return "";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "Inf";
  return fmt::format("{}", value);
}
std::string ValueField(int64_t value) { return fmt::format("{}", value); }
std::string ValueField(const std::string& value) { return CsvField(value); }

// The decimals of all numbers of the table that have these standard deviations; nothing for all
// digits.
std::optional<int> DecimalsOf(const TableLayout& layout, std::span<const double> std_devs) {
  if (layout.digits == TableDigits::kFull) return std::nullopt;
  double least = std::numeric_limits<double>::infinity();
  for (const double std_dev : std_devs) {
    if (std_dev > 0) least = std::min(least, std_dev);
  }
  return SupportedDecimals(least);
}

char* WriteNumber(double value, std::optional<int> decimals, Rounding rounding, char* out) {
  if (!decimals || !std::isfinite(value)) return fmt::format_to(out, FMT_COMPILE("{}"), value);
  return WriteRounded(value, *decimals, rounding, out);
}

// Rows of one table as text.
class CsvTableRows {
 public:
  CsvTableRows(const TableLayout& layout, const std::vector<std::vector<std::string>>& csv_labels,
               const PublishedTable& table)
      : columns_(layout.columns), table_(table), decimals_(DecimalsOf(layout, table.std_devs)) {
    size_t label_bytes = 0;
    for (const int i : table.attributes) {
      axes_.push_back(&csv_labels[static_cast<size_t>(i)]);
      size_t longest = 0;
      for (const std::string& label : *axes_.back()) longest = std::max(longest, label.size());
      label_bytes += longest + 1;
    }
    size_t num_numbers = 4;
    if (table.means != nullptr) {
      num_numbers += std::size(kMeanNumberColumns);
      label_bytes += std::string_view(kMeanNote).size() + 1;
      sum_decimals_ = DecimalsOf(layout, table.means->sum_std_devs);
      mean_decimals_ = DecimalsOf(layout, table.means->mean_std_devs);
    }
    max_row_bytes_ =
        label_bytes + num_numbers * (std::max<size_t>(kMaxRoundedChars, kMaxFullChars) + 1);
    if (table.std_devs.size() == 1) {
      char buffer[kMaxRoundedChars + kMaxFullChars];
      const char* end = WriteNumber(table.std_devs[0], decimals_, Rounding::kNearest, buffer);
      std_dev_ = std::string(static_cast<const char*>(buffer), end);
      std_dev_ += ',';
    }
  }

  // Rows first to last of the piece, without `last`, in place of what `text` was.
  void Format(int64_t first, int64_t last, std::string* text) const {
    // The places of the first row along each axis.
    std::vector<size_t> place(axes_.size());
    auto rest = static_cast<size_t>(table_.first + first);
    for (size_t k = axes_.size(); k-- > 0; rest /= axes_[k]->size()) {
      place[k] = rest % axes_[k]->size();
    }
    std::string outer = OuterLabels(place);
    size_t used = 0;
    for (int64_t row = first; row < last; ++row) {
      if (text->size() - used < max_row_bytes_) {
        text->resize(std::max(2 * text->size(), size_t{1} << 16) + max_row_bytes_);
      }
      char* out = text->data() + used;
      out = std::copy(outer.begin(), outer.end(), out);
      if (!axes_.empty()) {
        const std::string& label = (*axes_.back())[place.back()];
        out = std::copy(label.begin(), label.end(), out);
        *out++ = ',';
      }
      out = WriteNumbers(static_cast<size_t>(row), out);
      *out++ = '\n';
      used = static_cast<size_t>(out - text->data());
      if (Advance(&place)) outer = OuterLabels(place);
    }
    text->resize(used);
  }

 private:
  // Of all axes but the last.
  std::string OuterLabels(const std::vector<size_t>& place) const {
    std::string labels;
    for (size_t k = 0; k + 1 < place.size(); ++k) labels += (*axes_[k])[place[k]] + ',';
    return labels;
  }

  // To the next row; true if more than the last axis moved.
  bool Advance(std::vector<size_t>* place) const {
    for (size_t k = place->size(); k-- > 0;) {
      if (++(*place)[k] < axes_[k]->size()) return k + 1 < place->size();
      (*place)[k] = 0;
    }
    return true;
  }

  char* WriteNumbers(size_t row, char* out) const {
    const double estimate = table_.estimates[row];
    if (columns_ == TableColumns::kAdjustedWhole)
      return fmt::format_to(out, FMT_COMPILE("{}"), WholeOf(estimate));
    out = WriteNumber(estimate, decimals_, Rounding::kNearest, out);
    if (columns_ == TableColumns::kAdjusted) return out;
    *out++ = ',';
    const bool is_constant = !std_dev_.empty();
    const double std_dev = table_.std_devs[is_constant ? 0 : row];
    if (is_constant) {
      out = std::copy(std_dev_.begin(), std_dev_.end(), out);
    } else {
      out = WriteNumber(std_dev, decimals_, Rounding::kNearest, out);
      *out++ = ',';
    }
    const double half_width = table_.interval_factor * std_dev + table_.widening;
    out = WriteNumber(estimate - half_width, decimals_, Rounding::kDown, out);
    *out++ = ',';
    out = WriteNumber(estimate + half_width, decimals_, Rounding::kUp, out);
    return table_.means == nullptr ? out : WriteMeans(*table_.means, row, out);
  }

  // From the sum on, each with a comma before it.
  char* WriteMeans(const MeanColumns& means, size_t row, char* out) const {
    const auto write = [&](double value, std::optional<int> decimals, Rounding rounding) {
      *out++ = ',';
      if (!std::isnan(value)) out = WriteNumber(value, decimals, rounding, out);
    };
    const double std_dev = means.sum_std_devs[row];
    const double half_width = table_.interval_factor * std_dev;
    write(means.sums[row], sum_decimals_, Rounding::kNearest);
    write(std_dev, sum_decimals_, Rounding::kNearest);
    write(means.sums[row] - half_width, sum_decimals_, Rounding::kDown);
    write(means.sums[row] + half_width, sum_decimals_, Rounding::kUp);
    write(means.means[row], mean_decimals_, Rounding::kNearest);
    write(means.mean_std_devs[row], mean_decimals_, Rounding::kNearest);
    write(means.mean_lower[row], mean_decimals_, Rounding::kDown);
    write(means.mean_upper[row], mean_decimals_, Rounding::kUp);
    *out++ = ',';
    const std::string_view note = std::isnan(means.means[row]) ? kMeanNote : "";
    return std::copy(note.begin(), note.end(), out);
  }

  TableColumns columns_;
  const PublishedTable& table_;
  std::optional<int> decimals_;
  std::optional<int> sum_decimals_, mean_decimals_;
  std::vector<const std::vector<std::string>*> axes_;
  size_t max_row_bytes_ = 0;
  std::string std_dev_;  // and a comma, if it is the same for all
};

std::string CsvHeader(const TableLayout& layout, const PublishedTable& table) {
  std::string header;
  for (const int attribute : table.attributes) {
    const auto i = static_cast<size_t>(attribute);
    header += CsvField(layout.names.columns[i]) + ',';
    for (const CompanionColumn& companion : layout.CompanionsAt(i)) {
      header += CsvField(companion.name) + ',';
    }
  }
  header += fmt::format("{}", fmt::join(NumberColumnsOf(layout.columns), ","));
  if (table.means != nullptr) {
    for (const char* name : kMeanNumberColumns) header += fmt::format(",{}", name);
    header += fmt::format(",{}", kMeanNoteColumn);
  }
  return header + "\n";
}

}  // namespace

std::vector<std::vector<std::string>> CsvLabels(const TableLayout& layout) {
  std::vector<std::vector<std::string>> fields = layout.labels;
  for (size_t i = 0; i < fields.size(); ++i) {
    for (size_t k = 0; k < fields[i].size(); ++k) {
      fields[i][k] = CsvField(fields[i][k]);
      for (const CompanionColumn& companion : layout.CompanionsAt(i)) {
        fields[i][k] += ',';
        fields[i][k] +=
            std::visit([&](const auto& values) { return ValueField(values[k]); }, companion.values);
      }
    }
  }
  return fields;
}

CsvTable::CsvTable(const std::filesystem::path& path, const TableLayout& layout,
                   const std::vector<std::vector<std::string>>& csv_labels, Threads* threads)
    : file_(path), layout_(layout), csv_labels_(csv_labels), threads_(threads) {}

void CsvTable::Add(const PublishedTable& table) {
  if (table.first == 0) file_.Write(CsvHeader(layout_, table));
  const CsvTableRows rows(layout_, csv_labels_, table);
  const int64_t num_rows = std::ssize(table.estimates);
  // As many at once as keep the threads busy.
  std::vector<std::string> texts(static_cast<size_t>(4 * threads_->count()));
  for (int64_t first = 0; first < num_rows;) {
    const int64_t left = (num_rows - first + kStretchRows - 1) / kStretchRows;
    const size_t count = std::min(texts.size(), static_cast<size_t>(left));
    const auto format = [&](size_t k) {
      const int64_t start = first + static_cast<int64_t>(k) * kStretchRows;
      rows.Format(start, std::min(start + kStretchRows, num_rows), &texts[k]);
    };
    if (count == 1) {
      format(0);
    } else {
      threads_->Run([&] { ParallelFor(size_t{0}, count, format); });
    }
    for (size_t k = 0; k < count; ++k) file_.Write(texts[k]);
    first += static_cast<int64_t>(count) * kStretchRows;
  }
}

void CsvTable::Finish(Durability durability) { file_.Commit(durability); }

}  // namespace residua
