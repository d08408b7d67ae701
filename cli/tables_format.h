#pragma once

#include <string_view>

#include "residua/files/table_files.h"

namespace residua::cli {

// What --format and --one-file mean.
TableFormat ParseTableFormat(std::string_view format, bool one_file);

}  // namespace residua::cli
