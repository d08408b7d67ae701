#pragma once

#include <string>
#include <string_view>

namespace residua {

// Text from a file, safe to print on one line: control characters escaped, long text cut.
std::string ShownText(std::string_view text);

}  // namespace residua
