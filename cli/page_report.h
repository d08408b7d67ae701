#pragma once

#include <cstdint>

#include "residua/release/page.h"

namespace residua::cli {

// The bytes of --page-size, which is in MB. Error{kBadInput} if it makes no sense.
int64_t ParsePageSize(double megabytes);

// Says on stderr that tables were left out of a page, if any were.
void ReportLeftOut(const PageWritten& written);

}  // namespace residua::cli
