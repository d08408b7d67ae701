#include "residua/files/table_files.h"

#include <cmath>
#include <optional>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/threads.h"
#include "residua/files/file.h"
#include "residua/files/table_csv.h"
#include "residua/files/table_parquet.h"

namespace residua {
namespace {

namespace fs = std::filesystem;

// The file that tells a folder of ours from any other.
constexpr const char* kAboutFile = "residua.json";

bool IsOurs(const fs::path& folder) { return fs::exists(folder / kAboutFile); }

// A folder made under another name and renamed when it is complete.
class FolderWriter final : public TableWriter {
 public:
  FolderWriter(fs::path path, TableLayout layout)
      : path_(std::move(path)), layout_(std::move(layout)), threads_(layout_.num_threads) {
    if (path_.filename().empty()) path_ = path_.parent_path();  // "tables/"
    if (fs::exists(path_) &&
        (!fs::is_directory(path_) || !(fs::is_empty(path_) || IsOurs(path_)))) {
      Fail(ErrorKind::kRefused,
           "{}: exists and holds other things than tables of residua's; choose another folder",
           path_.string());
    }
    in_progress_.emplace(path_);
    WriteFileAtomically(in_progress_->path() / kAboutFile, layout_.about, FileKind::kAnything);
    if (layout_.format == TableFormat::kCsv) {
      csv_labels_ = CsvLabels(layout_);
    } else {
      dictionaries_ = AxisDictionariesOf(layout_);
    }
  }
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  void Write(const PublishedTable& table) override {
    if (table.first == 0) {
      RESIDUA_CHECK(!csv_ && !parquet_);
      std::string name = layout_.names.TableName(table.table());
      if (layout_.columns != TableColumns::kEstimates) name += ".adjusted";
      if (layout_.format == TableFormat::kCsv) {
        csv_.emplace(in_progress_->path() / (name + ".csv"), layout_, csv_labels_, &threads_);
      } else {
        attributes_ = table.attributes;
        parquet_.emplace(in_progress_->path() / (name + ".parquet"), layout_, dictionaries_,
                         &attributes_, table.means != nullptr);
      }
    }
    if (csv_) {
      csv_->Add(table);
    } else {
      parquet_.value().Add(table);
    }
    if (!layout_.IsEnd(table)) return;
    if (csv_) {
      csv_->Finish(Durability::kLater);
    } else {
      parquet_->Finish(Durability::kLater);
    }
    csv_.reset();
    parquet_.reset();
  }

  void Finish() override {
    RESIDUA_CHECK(!csv_ && !parquet_);
    in_progress_->Commit();
    in_progress_.reset();
  }

 private:
  fs::path path_;
  TableLayout layout_;
  Threads threads_;
  std::vector<std::vector<std::string>> csv_labels_;
  std::vector<AxisDictionaries> dictionaries_;
  std::optional<FolderInProgress> in_progress_;  // until it is finished
  // The table that is written, one of the two.
  std::optional<CsvTable> csv_;
  std::optional<ParquetTables> parquet_;
  AttributeSet attributes_;
};

class OneFileWriter final : public TableWriter {
 public:
  OneFileWriter(const fs::path& path, TableLayout layout)
      : layout_(std::move(layout)),
        dictionaries_(AxisDictionariesOf(layout_)),
        file_(path, layout_, dictionaries_, nullptr, !layout_.is_mean.empty()) {}

  void Write(const PublishedTable& table) override { file_.Add(table); }
  void Finish() override { file_.Finish(Durability::kSynced); }

 private:
  TableLayout layout_;
  std::vector<AxisDictionaries> dictionaries_;
  ParquetTables file_;
};

}  // namespace

std::span<const CompanionColumn> TableLayout::CompanionsAt(size_t attribute) const {
  if (attribute >= companions.size()) return {};
  return companions[attribute];
}

bool TableLayout::IsEnd(const PublishedTable& piece) const {
  int64_t num_answers = 1;
  for (const int i : piece.attributes) {
    num_answers = CheckedMultiply(num_answers, std::ssize(labels[static_cast<size_t>(i)]));
  }
  return piece.first + std::ssize(piece.estimates) == num_answers;
}

std::vector<std::string> NumberColumnsOf(TableColumns columns) {
  if (columns != TableColumns::kEstimates) return {"adjusted"};
  return {"estimate", "std_dev", "ci_lower", "ci_upper"};
}

int64_t WholeOf(double value) {
  if (!(std::abs(value) < 0x1p63)) {
    Fail(ErrorKind::kTooLarge, "{} does not fit 64 bits; leave out {}", value,
         Phrase{Phrase::Kind::kOption, {"integers"}});
  }
  return static_cast<int64_t>(value);
}

std::unique_ptr<TableWriter> MakeTableWriter(const fs::path& path, TableLayout layout) {
  if (layout.format == TableFormat::kOneParquet) {
    if (fs::exists(path)) {
      Fail(ErrorKind::kRefused, "{}: exists already; choose another name", path.string());
    }
    return std::make_unique<OneFileWriter>(path, std::move(layout));
  }
  return std::make_unique<FolderWriter>(path, std::move(layout));
}

}  // namespace residua
