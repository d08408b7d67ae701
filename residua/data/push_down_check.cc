#include "residua/data/push_down_check.h"

#include "residua/base/error.h"
#include "residua/data/database_url.h"
#include "residua/measure/remote/joint_cells.h"

namespace residua {

void CheckPushDown(const std::string& database, const Domain& domain,
                   const Protection& protection) {
  if (!IsDatabaseUrl(database)) {
    Fail(ErrorKind::kBadInput,
         "only databases that are read through a driver count rows themselves, postgresql://... "
         "and sqlite:...; leave push_down out");
  }
  if (!protection.identifier.empty()) {
    Fail(ErrorKind::kBadInput,
         "a database cannot choose the rows of an identifier at random; leave push_down out, or "
         "protect rows");
  }
  NumJointCells(domain);
}

}  // namespace residua
