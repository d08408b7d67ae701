#pragma once

#include <string>
#include <string_view>

#include "residua/release/publish_tables.h"

namespace residua::cli {

// What --format, which is empty if it is not given, and --one-file mean.
TableFormat ParseTableFormat(std::string_view format, bool one_file);

// What --digits means beside --format; empty if it is not given.
TableDigits ParseTableDigits(std::string_view digits, TableFormat format);

// Says on stderr which attributes' columns have other names than the attributes.
void ReportRenamed(const TablesWritten& written);

// "2 tables with 44 answers".
std::string InWords(const TablesWritten& written);

}  // namespace residua::cli
