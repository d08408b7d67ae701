#pragma once

#include <string>

#include "residua/base/error.h"

namespace residua::cli {

// The error as one line, its remedies as flags and commands.
std::string Worded(const Error& error);

}  // namespace residua::cli
