#include "residua/files/table_files.h"

#include <cmath>

#include "residua/base/error.h"
#include "residua/files/digest.h"
#include "residua/files/file.h"
#include "residua/files/parquet_writer.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

// The file that tells a folder of ours from any other.
constexpr const char* kAboutFile = "residua.json";

// File systems take 255 bytes; the ending and a temporary name's letters need a few.
constexpr size_t kMaxNameBytes = 200;

// Text is handed to the system in pieces of this size.
constexpr size_t kFlushBytes = size_t{1} << 20;

// Calls visit(row, labels) for every answer; labels[k] points to the label of axis k.
template <typename Visit>
void ForEachRow(const PublishedTable& table, const Visit& visit) {
  std::vector<size_t> place(table.labels.size(), 0);
  std::vector<const std::string*> labels;
  for (const auto& axis : table.labels) labels.push_back(&axis.front());
  for (size_t row = 0; row < table.estimates.size(); ++row) {
    visit(row, labels);
    for (size_t k = place.size(); k-- > 0;) {
      if (++place[k] < table.labels[k].size()) {
        labels[k] = &table.labels[k][place[k]];
        break;
      }
      place[k] = 0;
      labels[k] = &table.labels[k].front();
    }
  }
}

double StdDevOf(const PublishedTable& table, size_t row) {
  return table.std_devs.size() == 1 ? table.std_devs[0] : table.std_devs[row];
}

int64_t WholeOf(double value) {
  if (!(std::abs(value) < 0x1p63)) {
    Fail(ErrorKind::kTooLarge, "{} does not fit 64 bits; leave out {}", value,
         Phrase{Phrase::Kind::kOption, {"integers"}});
  }
  return static_cast<int64_t>(value);
}

// The names of the columns beside the attributes.
std::vector<std::string> NumberColumns(TableColumns columns) {
  if (columns != TableColumns::kEstimates) return {"adjusted"};
  return {"estimate", "std_dev", "ci_lower", "ci_upper"};
}

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

void WriteCsv(const fs::path& path, TableColumns columns, PublishedTable table) {
  FileInProgress file(path);
  fmt::memory_buffer text;
  for (const std::string& name : table.attributes) {
    fmt::format_to(std::back_inserter(text), "{},", CsvField(name));
  }
  fmt::format_to(std::back_inserter(text), "{}\n", fmt::join(NumberColumns(columns), ","));
  for (auto& axis : table.labels) {
    for (std::string& label : axis) label = CsvField(label);
  }
  ForEachRow(table, [&](size_t row, const std::vector<const std::string*>& labels) {
    for (const std::string* label : labels) {
      text.append(label->data(), label->data() + label->size());
      text.push_back(',');
    }
    const double estimate = table.estimates[row];
    if (columns == TableColumns::kAdjustedWhole) {
      fmt::format_to(std::back_inserter(text), "{}\n", WholeOf(estimate));
    } else if (columns == TableColumns::kAdjusted) {
      fmt::format_to(std::back_inserter(text), "{}\n", estimate);
    } else {
      const double std_dev = StdDevOf(table, row);
      fmt::format_to(std::back_inserter(text), "{},{},{},{}\n", estimate, std_dev,
                     estimate - (table.interval_factor * std_dev + table.widening),
                     estimate + (table.interval_factor * std_dev + table.widening));
    }
    if (text.size() >= kFlushBytes) {
      file.Write({text.data(), text.size()});
      text.clear();
    }
  });
  file.Write({text.data(), text.size()});
  file.Commit(Durability::kLater);
}

// Collects rows into batches: text columns first, then the numbers.
class ParquetRows {
 public:
  ParquetRows(const fs::path& path, const std::vector<std::string>& text_columns,
              TableColumns columns, const std::string& about)
      : num_text_(text_columns.size()),
        columns_(columns),
        writer_(path, Names(text_columns), Empty(), {{"residua_about", about}}),
        batch_(Empty()) {}

  // Row `row` of the table.
  void Add(const std::vector<std::string>& texts, const PublishedTable& table, size_t row) {
    for (size_t k = 0; k < num_text_; ++k) Column<std::string>(k).push_back(texts[k]);
    const double estimate = table.estimates[row];
    if (columns_ == TableColumns::kAdjustedWhole) {
      Column<int64_t>(num_text_).push_back(WholeOf(estimate));
    } else {
      Column<double>(num_text_).push_back(estimate);
    }
    if (columns_ == TableColumns::kEstimates) {
      const double std_dev = StdDevOf(table, row);
      Column<double>(num_text_ + 1).push_back(std_dev);
      Column<double>(num_text_ + 2)
          .push_back(estimate - (table.interval_factor * std_dev + table.widening));
      Column<double>(num_text_ + 3)
          .push_back(estimate + (table.interval_factor * std_dev + table.widening));
    }
    if (++num_rows_ == kMaxBatchRows) Flush();
  }

  void Finish() {
    Flush();
    writer_.Finish();
  }

 private:
  std::vector<std::string> Names(std::vector<std::string> names) const {
    for (const std::string& name : NumberColumns(columns_)) names.push_back(name);
    return names;
  }
  ParquetBatch Empty() const {
    ParquetBatch batch(num_text_, std::vector<std::string>());
    if (columns_ == TableColumns::kAdjustedWhole) {
      batch.emplace_back(std::vector<int64_t>());
    } else {
      batch.insert(batch.end(), NumberColumns(columns_).size(), std::vector<double>());
    }
    return batch;
  }
  template <typename Value>
  std::vector<Value>& Column(size_t k) {
    return std::get<std::vector<Value>>(batch_[k]);
  }
  void Flush() {
    writer_.Write(std::exchange(batch_, Empty()));
    num_rows_ = 0;
  }

  size_t num_text_;
  TableColumns columns_;
  ParquetWriter writer_;
  ParquetBatch batch_;
  int64_t num_rows_ = 0;
};

void WriteParquet(const fs::path& path, TableColumns columns, const PublishedTable& table,
                  const std::string& about) {
  ParquetRows rows(path, table.attributes, columns, about);
  std::vector<std::string> texts(table.attributes.size());
  ForEachRow(table, [&](size_t row, const std::vector<const std::string*>& labels) {
    for (size_t k = 0; k < labels.size(); ++k) texts[k] = *labels[k];
    rows.Add(texts, table, row);
  });
  rows.Finish();
}

bool IsOurs(const fs::path& folder) { return fs::exists(folder / kAboutFile); }

// A folder made under another name and renamed when it is complete.
class FolderWriter final : public TableWriter {
 public:
  FolderWriter(fs::path path, TableFormat format, TableColumns columns, std::string about)
      : path_(std::move(path)), format_(format), columns_(columns), about_(std::move(about)) {
    if (path_.filename().empty()) path_ = path_.parent_path();  // "tables/"
    if (fs::exists(path_) &&
        (!fs::is_directory(path_) || !(fs::is_empty(path_) || IsOurs(path_)))) {
      Fail(ErrorKind::kRefused,
           "{}: exists and holds other things than tables of residua's; choose another folder",
           path_.string());
    }
    in_progress_ = MakeFolderInProgress(path_);
    WriteFileAtomically(in_progress_ / kAboutFile, about_);
  }
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;
  ~FolderWriter() override {
    std::error_code ignored;
    if (!in_progress_.empty()) fs::remove_all(in_progress_, ignored);
  }

  void Write(const PublishedTable& table) override {
    std::string name = TableFileName(table.attributes);
    if (columns_ != TableColumns::kEstimates) name += ".adjusted";
    if (format_ == TableFormat::kCsv) {
      WriteCsv(in_progress_ / (name + ".csv"), columns_, table);
    } else {
      WriteParquet(in_progress_ / (name + ".parquet"), columns_, table, about_);
    }
  }

  void Finish() override {
    SyncFileSystemOf(in_progress_);
    std::error_code error;
    const fs::path old = in_progress_.string() + ".old";
    const bool replaces = fs::exists(path_);
    if (replaces) fs::rename(path_, old, error);
    if (!error) fs::rename(in_progress_, path_, error);
    if (error) {
      Fail(ErrorKind::kIo, "{}: cannot be put in place: {}", path_.string(), error.message());
    }
    in_progress_.clear();
    if (replaces) fs::remove_all(old, error);
  }

 private:
  fs::path path_;
  TableFormat format_;
  TableColumns columns_;
  std::string about_;
  fs::path in_progress_;
};

// All tables in one Parquet file: a column for the table's name and one for its cell.
class OneFileWriter final : public TableWriter {
 public:
  OneFileWriter(const fs::path& path, TableColumns columns, const std::string& about)
      : rows_(path, {"table", "cell"}, columns, about) {}

  void Write(const PublishedTable& table) override {
    std::vector<std::string> texts = {TableFileName(table.attributes), ""};
    ForEachRow(table, [&](size_t row, const std::vector<const std::string*>& labels) {
      texts[1].clear();
      for (size_t k = 0; k < labels.size(); ++k) {
        texts[1] += fmt::format("{}{}={}", k == 0 ? "" : " ", table.attributes[k], *labels[k]);
      }
      rows_.Add(texts, table, row);
    });
  }
  void Finish() override { rows_.Finish(); }

 private:
  ParquetRows rows_;
};

}  // namespace

std::string TableFileName(const std::vector<std::string>& attributes) {
  if (attributes.empty()) return "total";
  std::string name;
  for (const std::string& attribute : attributes) {
    if (!name.empty()) name += "_x_";
    for (const char c : attribute) {
      const bool plain = static_cast<unsigned char>(c) > 0x7f ||
                         std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
                         (c == '.' && !name.empty());
      if (plain) {
        name += c;
      } else {
        name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
      }
    }
  }
  if (name == "total") return "total%20";  // an attribute of that name, not the 0-way table
  if (name.size() > kMaxNameBytes) {
    return name.substr(0, kMaxNameBytes - 20) + "_" + Sha256(name).substr(7, 16);
  }
  return name;
}

std::unique_ptr<TableWriter> MakeTableWriter(const fs::path& path, TableFormat format,
                                             TableColumns columns, const std::string& about) {
  if (format == TableFormat::kOneParquet) {
    if (fs::exists(path)) {
      Fail(ErrorKind::kRefused, "{}: exists already; choose another name", path.string());
    }
    return std::make_unique<OneFileWriter>(path, columns, about);
  }
  return std::make_unique<FolderWriter>(path, format, columns, about);
}

}  // namespace residua
