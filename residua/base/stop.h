#pragma once

#include <stop_token>

#include "residua/base/error.h"

namespace residua {

// Long work looks at the token that its options carry, and gives up when someone asked it to: a
// token that nobody holds the source of never does.
inline void CheckNotStopped(const std::stop_token& stop) {
  if (stop.stop_requested()) Fail(ErrorKind::kStopped, "stopped before it was done");
}

}  // namespace residua
