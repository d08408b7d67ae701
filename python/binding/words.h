#pragma once

#include <string>
#include <vector>

#include "residua/base/error.h"
#include "residua/release/warnings.h"
#include "residua/select/combined_plan.h"

namespace residua::python {

// The error as one line, its remedies as arguments and calls.
std::string Worded(const Error& error);
// The same for a warning.
std::string Worded(const ReleaseWarning& warning);
// What a combination leaves out, and what its error bars do not cover: one line each.
std::vector<std::string> Worded(const CombinationReport& report, const Plan& combined);

}  // namespace residua::python
