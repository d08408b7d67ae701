#pragma once

#include <CLI/CLI.hpp>

namespace residua::cli {

// Lets an argument that names a measurement file name the folder of a release too.
CLI::Option* AcceptReleaseFolder(CLI::Option* option);

}  // namespace residua::cli
