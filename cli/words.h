#pragma once

#include <string>

#include "residua/base/error.h"
#include "residua/release/warnings.h"

namespace residua::cli {

// The error as one line, its remedies as flags and commands.
std::string Worded(const Error& error);
// The same, of residua release: what is measured once more adds to what an earlier release tells.
std::string WordedForRelease(const Error& error);

// A warning as one line.
std::string Worded(const ReleaseWarning& warning);

}  // namespace residua::cli
