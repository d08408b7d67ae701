#pragma once

#include <string_view>

namespace residua {

// The tool's semantic version, "1.2.3".
std::string_view Version();

}  // namespace residua
