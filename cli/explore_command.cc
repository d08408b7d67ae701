#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/print_text.h"
#include "residua/base/error.h"
#include "residua/release/planning_page.h"
#include "residua/text/json_text.h"

extern char** environ;

namespace residua::cli {
namespace {

struct ExploreOptions {
  std::string spec;
  std::string output;
  bool no_open = false;
  bool json = false;
};

bool HasDisplay() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

// Whether the desktop was asked to open the file. It goes on without this program, and says nothing
// on its terminal.
bool OpenOnDesktop(const std::filesystem::path& file) {
  std::string program = "xdg-open";
  std::string path = std::filesystem::absolute(file).string();
  char* const arguments[] = {program.data(), path.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {0, 1, 2}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int failure =
      posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure == 0;
}

void Run(ExploreOptions& options) {
  if (options.output.empty()) {
    const std::filesystem::path spec(options.spec.empty() ? "spec.toml" : options.spec);
    options.output = spec.stem().string() + ".explore.html";
  }
  const PlanningPageWritten written = WritePlanningPage(options.spec, options.output);
  const bool is_opened = !options.no_open && HasDisplay() && OpenOnDesktop(written.output);
  if (options.json) {
    const Json json = {
        {"output", written.output.string()}, {"bytes", written.num_bytes}, {"opened", is_opened}};
    fmt::print("{}\n", IndentedJson(json));
    return;
  }
  PrintText("Written to {}, {:.1f} MB. {}\n", written.output.string(),
            static_cast<double>(written.num_bytes) / 1e6,
            is_opened ? "Your browser opens it." : "Open it in a browser.");
}

}  // namespace

void AddExploreCommand(CLI::App* app) {
  auto options = std::make_shared<ExploreOptions>();
  CLI::App* command = app->add_subcommand(
      "explore", "Write the planning page, in which a spec is changed and its errors are seen");
  command->footer(
      "Examples:\n"
      "  residua explore people.toml\n"
      "  residua explore -o plan.html --no-open\n"
      "The page works without a server and without a network, and computes as residua plan does. "
      "It saves the spec as a download. No data is read. The page holds the spec, so keep it to "
      "yourself if the spec says what readers must not know.");
  command->add_option("SPEC", options->spec, "The spec file (TOML); without one, an example");
  command->add_option("-o,--output", options->output,
                      "The file; by default SPEC.explore.html in the current folder");
  command->add_flag("--no-open", options->no_open, "Do not open the page in the browser");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
