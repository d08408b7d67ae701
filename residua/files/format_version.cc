#include "residua/files/format_version.h"

#include "residua/base/error.h"
#include "residua/base/version.h"

namespace residua {

void CheckFormatVersion(std::string_view what, std::optional<int64_t> found, int64_t known) {
  if (found == known) return;
  if (found && *found > known) {
    Fail(ErrorKind::kBadInput,
         "{} format {} is newer than residua {}, which reads format {}; update residua", what,
         *found, Version(), known);
  }
  Fail(ErrorKind::kBadInput, "{} format {} is unknown to residua {}, which reads format {}", what,
       found ? fmt::format("{}", *found) : "(none)", Version(), known);
}

}  // namespace residua
