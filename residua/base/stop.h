#pragma once

#include <stop_token>

#include "residua/base/error.h"

namespace residua {

// Long work calls this with the token in its options, and ends when someone asked it to stop. A
// token without a source never stops it.
inline void CheckNotStopped(const std::stop_token& stop) {
  if (stop.stop_requested()) Fail(ErrorKind::kStopped, "stopped before it was done");
}

}  // namespace residua
