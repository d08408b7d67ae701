#pragma once

#include <string>

#include "residua/base/error.h"
#include "residua/release/warnings.h"

namespace residua::python {

// The error as one line, its remedies as arguments and calls.
std::string Worded(const Error& error);
// The same for a warning.
std::string Worded(const ReleaseWarning& warning);

}  // namespace residua::python
