#pragma once

#include <filesystem>

namespace residua {

// Error{kBadInput} if the file does not end as Parquet files do, or if a list or text of its footer
// claims to be longer than the footer. A reader that makes room for what is claimed would take any
// amount of memory for a small file; after this check it takes some hundred bytes for each byte of
// the footer, which is not compressed.
void CheckParquetFooter(const std::filesystem::path& path);

}  // namespace residua
