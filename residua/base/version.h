#pragma once

#include <string_view>

namespace residua {

// The tool's semantic version, "0.1.0".
std::string_view Version();

}  // namespace residua
