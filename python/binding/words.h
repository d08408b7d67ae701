#pragma once

#include <string>

#include "residua/base/error.h"

namespace residua::python {

// The error as one line, its remedies as arguments and calls.
std::string Worded(const Error& error);

}  // namespace residua::python
