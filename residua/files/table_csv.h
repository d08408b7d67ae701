#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "residua/base/threads.h"
#include "residua/files/table_files.h"

namespace residua {

// The labels as fields of a CSV file: in quotes where they need them.
std::vector<std::vector<std::string>> CsvLabels(
    const std::vector<std::vector<std::string>>& labels);

// Writes the table to `path`, to be synced by whoever called. `csv_labels` are CsvLabels of the
// layout's.
void WriteCsvTable(const std::filesystem::path& path, const TableLayout& layout,
                   const std::vector<std::vector<std::string>>& csv_labels,
                   const PublishedTable& table, Threads* threads);

}  // namespace residua
