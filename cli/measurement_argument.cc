#include "cli/measurement_argument.h"

#include "residua/release/release_folder.h"

namespace residua::cli {

CLI::Option* AcceptReleaseFolder(CLI::Option* option) {
  return option->transform(
      [](const std::string& place) { return MeasurementFileAt(place).string(); });
}

}  // namespace residua::cli
