#pragma once

#include <filesystem>

namespace residua {

// What a file is that is written under a name of someone's choice. kAnything is for files that are
// nobody's work: those of tests, and those in a folder that was just made.
enum class FileKind { kPlan, kPage, kSummary, kBasisCache, kNew, kAnything };

// Error{kRefused} unless writing a file of this kind to `path` loses nothing but a file of the same
// kind, of any version: a name given by mistake may be that of the data or its ledger. There may be
// nothing, or an empty file; kNew replaces not even that. A pipe or a device holds nothing.
void CheckReplaceable(const std::filesystem::path& path, FileKind kind);

bool IsPipeOrDevice(const std::filesystem::path& path);

}  // namespace residua
