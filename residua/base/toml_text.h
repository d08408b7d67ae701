#pragma once

#include <string>
#include <string_view>

namespace residua {

// "it is \"so\"": UTF-8 text as a TOML string on one line.
std::string TomlString(std::string_view text);

// age, or "net income".
std::string TomlKey(std::string_view name);

}  // namespace residua
