#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/shell_completion.h"
#include "residua/base/error.h"

namespace residua::cli {

void AddHelpCommand(CLI::App* app) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app->add_subcommand("help", "Explain a command, as COMMAND --help does");
  command->footer("Example: residua help ledger grant");
  command->add_option("COMMAND", *words, "The command; by default all commands are listed");
  command->callback([app, words] {
    const CLI::App* of = app;
    std::string before;  // the words in front of the command, for its usage
    for (const std::string& word : *words) {
      const auto named =
          of->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
      before += (before.empty() ? "" : " ") + of->get_name();
      of = named.empty() ? nullptr : named.front();
      if (of == nullptr) {
        Fail(ErrorKind::kBadInput, "there is no command '{}'; residua help lists the commands",
             fmt::join(*words, " "));
      }
    }
    before += (before.empty() ? "" : " ") + of->get_name();
    // App::help would explain the command that was called, this one.
    fmt::print("{}", of->get_formatter()->make_help(of, before, CLI::AppFormatMode::Normal));
  });
}

void AddCompletionCommand(CLI::App* app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app->add_subcommand(
      "completion", "Print what a shell needs to complete commands and options");
  command->footer(
      "Examples:\n"
      "  residua completion bash > ~/.local/share/bash-completion/completions/residua\n"
      "  residua completion zsh > ~/.zfunc/_residua\n"
      "  residua completion fish > ~/.config/fish/completions/residua.fish\n"
      "  residua completion man > residua.1      the manual page");
  command->add_option("SHELL", *shell, "bash, zsh, fish, or man for the manual page")->required();
  command->callback([app, shell] {
    if (*shell == "bash") {
      fmt::print("{}", BashCompletion(*app));
    } else if (*shell == "zsh") {
      fmt::print("{}", ZshCompletion(*app));
    } else if (*shell == "fish") {
      fmt::print("{}", FishCompletion(*app));
    } else if (*shell == "man") {
      fmt::print("{}", ManualPage(*app));
    } else {
      Fail(ErrorKind::kBadInput, "no completion for '{}'; give bash, zsh, fish or man", *shell);
    }
  });
}

}  // namespace residua::cli
