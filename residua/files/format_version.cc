#include "residua/files/format_version.h"

#include "residua/base/error.h"
#include "residua/base/version.h"

namespace residua {

void CheckFormatVersion(std::string_view what, std::optional<int64_t> found, int64_t first,
                        int64_t last) {
  if (found && *found >= first && *found <= last) return;
  const std::string known =
      first == last ? fmt::format("format {}", last) : fmt::format("formats {} to {}", first, last);
  if (found && *found > last) {
    Fail(ErrorKind::kBadInput,
         "{} format {} is newer than residua {}, which reads {}; update residua", what, *found,
         Version(), known);
  }
  Fail(ErrorKind::kBadInput, "{} format {} is unknown to residua {}, which reads {}", what,
       found ? fmt::format("{}", *found) : "(none)", Version(), known);
}

}  // namespace residua
