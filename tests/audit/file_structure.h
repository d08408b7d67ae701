#pragma once

#include <filesystem>
#include <string>

namespace residua::audit {

// All that the files in a folder show beside noisy numbers, a line for each thing: their names; of
// Parquet files the schema, metadata, row groups and numbers of values; of every table its labels
// and its standard deviations; of a measurement file the order of sets and the width of each row;
// other files whole.
std::string StructureOfFolder(const std::filesystem::path& folder);

}  // namespace residua::audit
