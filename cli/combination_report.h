#pragma once

#include "residua/select/combined_plan.h"

namespace residua::cli {

// Notes on what could not be combined, and on what combining does not cover.
void ReportCombination(const Plan& plan, const CombinationReport& report);

}  // namespace residua::cli
