#pragma once

#include <string>
#include <string_view>

#include "residua/release/publish_tables.h"

namespace residua::cli {

// What --format and --one-file mean.
TableFormat ParseTableFormat(std::string_view format, bool one_file);

// "2 tables with 44 answers".
std::string InWords(const TablesWritten& written);

}  // namespace residua::cli
