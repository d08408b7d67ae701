#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace residua::cli {

// What a shell reads to complete the program's commands and options, and the manual page: all made
// from the commands themselves, so that they never disagree with --help.
std::string BashCompletion(const CLI::App& app);
std::string ZshCompletion(const CLI::App& app);
std::string FishCompletion(const CLI::App& app);
std::string ManualPage(const CLI::App& app);

}  // namespace residua::cli
