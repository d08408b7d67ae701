#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "residua/model/attribute.h"

namespace residua {

// A matrix as text: one line per row, entries with commas between; blank lines and lines that start
// with # are skipped. Error{kBadInput} names the file, the line and the remedy unless every row has
// `num_columns` finite numbers and there is at least one.
CellMatrix ReadMatrix(const std::filesystem::path& path, int64_t num_columns);
CellMatrix ParseMatrix(std::string_view text, const std::string& name, int64_t num_columns);

}  // namespace residua
