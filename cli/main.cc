#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands.h"
#include "cli/interruption.h"
#include "cli/print_text.h"
#include "cli/words.h"
#include "residua/base/error.h"
#include "residua/base/version.h"

namespace {

constexpr int kExitBadInput = 1;
constexpr int kExitRefused = 2;

int Report(const std::string& message, int exit_code) {
  residua::cli::AwaitInterruption();
  residua::cli::PrintText(stderr, "residua: {}\n", message);
  return exit_code;
}

// CLI11 would only say that a command is missing.
void CheckCommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  residua::Fail(residua::ErrorKind::kBadInput, "there is no command '{}'; the commands are {}",
                argv[1], known);
}

// The command whose help explains the arguments: "residua ledger grant".
std::string CommandOf(const CLI::App& app) {
  const std::vector<CLI::App*> given = app.get_subcommands();
  return given.empty() ? app.get_name() : app.get_name() + " " + CommandOf(*given.front());
}

}  // namespace

int main(int argc, char** argv) {
  residua::cli::HandleSignals();
  CLI::App app{"Differentially private marginals with exact error bars."};
  app.name("residua");
  app.footer("Run residua COMMAND --help for the options of a command and an example.");
  app.set_version_flag("-V,--version", fmt::format("residua {}", residua::Version()));
  app.require_subcommand(1);
  residua::cli::AddInitCommand(&app);
  residua::cli::AddCheckCommand(&app);
  residua::cli::AddPlanCommand(&app);
  residua::cli::AddExploreCommand(&app);
  residua::cli::AddMeasureCommand(&app);
  residua::cli::AddReleaseCommand(&app);
  residua::cli::AddTablesCommand(&app);
  residua::cli::AddQueryCommand(&app);
  residua::cli::AddCombineCommand(&app);
  residua::cli::AddPageCommand(&app);
  residua::cli::AddVerifyCommand(&app);
  residua::cli::AddLedgerCommand(&app);
  residua::cli::AddCompletionCommand(&app);
  residua::cli::AddHelpCommand(&app);
  try {
    CheckCommand(app, argc, argv);
    app.parse(argc, argv);
    if (std::fflush(stdout) != 0) return Report("standard output cannot be written", kExitBadInput);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help and --version
  } catch (const CLI::ParseError& error) {
    return Report(fmt::format("{}; see {} --help", error.what(), CommandOf(app)), kExitBadInput);
  } catch (const residua::Error& error) {
    const bool is_release = app.got_subcommand("release");
    return Report(is_release ? residua::cli::WordedForRelease(error) : residua::cli::Worded(error),
                  error.kind() == residua::ErrorKind::kRefused ? kExitRefused : kExitBadInput);
  } catch (const std::exception& error) {
    return Report(residua::MessageOf(error), kExitBadInput);
  }
  residua::cli::AwaitInterruption();
  return 0;
}
