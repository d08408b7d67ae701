#pragma once

#include <filesystem>
#include <string>

namespace residua::audit {

// Everything that the files in a folder show besides noisy numbers, one line each: their names; of
// Parquet files the schema, metadata, row groups and numbers of values; of every table its labels
// and its standard deviations; of a measurement file the order of sets and the width of each row;
// all of any other file.
std::string StructureOfFolder(const std::filesystem::path& folder);

}  // namespace residua::audit
