#pragma once

#include <string>

#include "residua/base/error.h"
#include "residua/release/warnings.h"

namespace residua::cli {

// The error as one line, its remedies as flags and commands.
std::string Worded(const Error& error);

// A warning as one line.
std::string Worded(const ReleaseWarning& warning);

}  // namespace residua::cli
