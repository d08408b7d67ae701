#pragma once

#include <string>
#include <string_view>

namespace residua {

// "sha256:" and 64 hexadecimal digits. It shows that a file was changed or cut, by accident or by
// someone who did not care to recompute it; it is no signature.
std::string Sha256(std::string_view text);

}  // namespace residua
