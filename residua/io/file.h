#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace residua {

// The whole file, or Error{kIo} that names it.
std::string ReadFile(const std::filesystem::path& path);

// Writes a temporary file beside `path`, syncs it, and renames it into place: `path` holds either
// what it held before or all of `content`.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view content);

}  // namespace residua
