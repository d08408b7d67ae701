#pragma once

#include <string_view>

namespace residua {

// The readers of JSON and TOML that we use, and their values when they go, call themselves once a
// level: a file of a few hundred kilobytes could take all of the stack. Each of these is
// Error{kBadInput} for text that is nested more deeply than any file of ours, and says nothing
// about text that is not JSON or TOML.

// Lists and objects within each other.
void CheckJsonNesting(std::string_view text);

// Parts of a dotted key; toml++ itself counts lists and tables within each other.
void CheckTomlKeys(std::string_view text);

}  // namespace residua
