#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "residua/base/threads.h"
#include "residua/files/file.h"
#include "residua/files/table_files.h"

namespace residua {

// The labels as fields of a CSV file, in quotes where they need them; where an attribute has
// companions, label and their values with commas between them.
std::vector<std::vector<std::string>> CsvLabels(const TableLayout& layout);

// One table in one CSV file, which appears at `path` when Finish returns.
class CsvTable {
 public:
  // `csv_labels` are CsvLabels of the layout. All but the path outlive this.
  CsvTable(const std::filesystem::path& path, const TableLayout& layout,
           const std::vector<std::vector<std::string>>& csv_labels, Threads* threads);

  void Add(const PublishedTable& table);
  void Finish(Durability durability);

 private:
  FileInProgress file_;
  const TableLayout& layout_;
  const std::vector<std::vector<std::string>>& csv_labels_;
  Threads* threads_;
};

}  // namespace residua
