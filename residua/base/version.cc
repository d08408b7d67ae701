#include "residua/base/version.h"

namespace residua {

std::string_view Version() { return RESIDUA_VERSION; }

}  // namespace residua
