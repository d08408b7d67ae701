#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "residua/base/error.h"

namespace residua::cli {

// fmt::print for people to read. Control characters in the arguments are escaped, as in an Error:
// text of a file, a ledger or a measurement can then forge no line, and reach no terminal as a
// command.
template <typename... Args>
void PrintText(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  [&](const auto&... safe) {
    fmt::vprint(stream, fmt::string_view(format), fmt::make_format_args(safe...));
  }(internal::SafeArgument(args)...);
}

template <typename... Args>
void PrintText(fmt::format_string<Args...> format, Args&&... args) {
  PrintText<Args...>(stdout, format, std::forward<Args>(args)...);
}

}  // namespace residua::cli
