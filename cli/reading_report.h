#pragma once

#include "residua/io/data_source.h"

namespace residua::cli {

// On stderr, what reading did to values that have no cell: true counts, for the curator.
void ReportReading(const ReadReport& report, const Domain& domain);

}  // namespace residua::cli
