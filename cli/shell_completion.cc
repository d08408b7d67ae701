#include "cli/shell_completion.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "residua/base/version.h"

namespace residua::cli {
namespace {

// A command with the words that lead to it: "residua ledger grant" has {"ledger", "grant"}.
struct Command {
  const CLI::App* app;
  std::vector<std::string> path;

  std::string Words() const { return fmt::format("{}", fmt::join(path, " ")); }
};

std::vector<const CLI::App*> Subcommands(const CLI::App& app) {
  // Commands without a group are not shown in --help either.
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

void AddCommands(const CLI::App& app, const std::vector<std::string>& path,
                 std::vector<Command>* commands) {
  commands->push_back({&app, path});
  for (const CLI::App* sub : Subcommands(app)) {
    std::vector<std::string> longer = path;
    longer.push_back(sub->get_name());
    AddCommands(*sub, longer, commands);
  }
}

std::vector<Command> CommandsOf(const CLI::App& app) {
  std::vector<Command> commands;
  AddCommands(app, {}, &commands);
  return commands;
}

std::vector<const CLI::Option*> Flags(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_positional(); });
}

std::vector<const CLI::Option*> Positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// "-o" and "--output".
std::vector<std::string> Spellings(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// Inside the single quotes of a shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// In the single quotes of an argument of zsh's _arguments, where brackets and colons end a part.
std::string ZshEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  const std::string quoted = Quoted(escaped);
  return quoted.substr(1, quoted.size() - 2);
}

// Text of a manual page: a backslash, a hyphen or a leading dot would be read as a command.
std::string Roff(std::string_view text) {
  std::string escaped;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    at_start = c == '\n';
  }
  return escaped;
}

std::string RoffOption(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : Spellings(option)) {
    names.push_back(fmt::format("\\fB{}\\fR", Roff(name)));
  }
  const std::string value =
      TakesValue(option) ? fmt::format(" \\fI{}\\fR", option.get_type_name()) : "";
  return fmt::format(".TP\n{}{}\n{}\n", fmt::join(names, ", "), value,
                     Roff(option.get_description()));
}

std::string RoffUsage(const Command& command) {
  std::string usage = fmt::format("\\fBresidua {}\\fR", command.Words());
  if (!Subcommands(*command.app).empty()) usage += " [\\fICOMMAND\\fR]";
  usage += " [\\fIOPTIONS\\fR]";
  for (const CLI::Option* positional : Positionals(*command.app)) {
    const std::string name = fmt::format("\\fI{}\\fR", Roff(positional->get_name()));
    usage += positional->get_required() ? " " + name : " [" + name + "]";
  }
  return usage;
}

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  std::string text =
      "# bash completion of residua\n"
      "_residua() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local path= choices= k\n"
      "  for ((k = 1; k < COMP_CWORD; ++k)); do\n"
      "    case \"$path ${COMP_WORDS[k]}\" in\n";
  for (const Command& command : CommandsOf(app)) {
    if (command.path.empty()) continue;
    text += fmt::format("      {}) path={} ;;\n", Quoted(" " + command.Words()),
                        Quoted(" " + command.Words()));
  }
  text +=
      "    esac\n"
      "  done\n"
      "  case \"$path\" in\n";
  for (const Command& command : CommandsOf(app)) {
    std::vector<std::string> choices;
    std::vector<std::string> with_value;
    for (const CLI::App* sub : Subcommands(*command.app)) choices.push_back(sub->get_name());
    for (const CLI::Option* option : Flags(*command.app)) {
      for (const std::string& name : Spellings(*option)) {
        choices.push_back(name);
        if (TakesValue(*option)) with_value.push_back(name);
      }
    }
    text += fmt::format("    {})\n      choices='{}'\n",
                        command.path.empty() ? "''" : Quoted(" " + command.Words()),
                        fmt::join(choices, " "));
    if (!with_value.empty()) {
      text += fmt::format("      case \"$previous\" in {}) choices= ;; esac\n",
                          fmt::join(with_value, "|"));
    }
    text += "      ;;\n";
  }
  text +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
      "  if [[ $word != -* && -n $path ]]; then COMPREPLY+=($(compgen -f -- \"$word\")); fi\n"
      "}\n"
      "complete -o filenames -F _residua residua\n";
  return text;
}

std::string ZshCompletion(const CLI::App& app) {
  std::string text =
      "#compdef residua\n"
      "# zsh completion of residua\n"
      "_residua() {\n"
      "  local chosen= k\n"
      "  for ((k = 2; k < CURRENT; ++k)); do\n"
      "    case \"$chosen ${words[k]}\" in\n";
  for (const Command& command : CommandsOf(app)) {
    if (command.path.empty()) continue;
    const std::string words = Quoted(" " + command.Words());
    text += fmt::format("      {}) chosen={} ;;\n", words, words);
  }
  text +=
      "    esac\n"
      "  done\n"
      "  case \"$chosen\" in\n";
  for (const Command& command : CommandsOf(app)) {
    text += fmt::format("    {})\n", command.path.empty() ? "''" : Quoted(" " + command.Words()));
    const std::vector<const CLI::App*> subcommands = Subcommands(*command.app);
    if (!subcommands.empty()) {
      text += "      local -a commands=(";
      for (const CLI::App* sub : subcommands) {
        text +=
            fmt::format("\n        '{}:{}'", sub->get_name(), ZshEscaped(sub->get_description()));
      }
      text += ")\n      _describe command commands\n";
    }
    text += "      _arguments";
    for (const CLI::Option* option : Flags(*command.app)) {
      for (const std::string& name : Spellings(*option)) {
        text += fmt::format(" \\\n        '{}[{}]{}'", name, ZshEscaped(option->get_description()),
                            TakesValue(*option) ? ":value:_files" : "");
      }
    }
    text += command.path.empty() ? "\n      ;;\n" : " \\\n        '*:file:_files'\n      ;;\n";
  }
  text +=
      "  esac\n"
      "}\n"
      "_residua \"$@\"\n";
  return text;
}

std::string FishCompletion(const CLI::App& app) {
  std::string text =
      "# fish completion of residua\n"
      "complete -c residua -n __fish_use_subcommand -f\n";
  for (const Command& command : CommandsOf(app)) {
    std::string condition = "__fish_use_subcommand";
    if (!command.path.empty()) {
      std::vector<std::string> seen;
      for (const std::string& word : command.path) {
        seen.push_back("__fish_seen_subcommand_from " + word);
      }
      condition = fmt::format("{}", fmt::join(seen, "; and "));
    }
    for (const CLI::App* sub : Subcommands(*command.app)) {
      text += fmt::format("complete -c residua -n {} -a {} -d {}\n", Quoted(condition),
                          sub->get_name(), Quoted(sub->get_description()));
    }
    for (const CLI::Option* option : Flags(*command.app)) {
      text += fmt::format("complete -c residua -n {}", Quoted(condition));
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      text += fmt::format("{} -d {}\n", TakesValue(*option) ? " -r" : "",
                          Quoted(option->get_description()));
    }
  }
  return text;
}

std::string ManualPage(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH RESIDUA 1 \"\" \"residua {}\" \"User Commands\"\n"
      ".SH NAME\nresidua \\- {}\n"
      ".SH SYNOPSIS\n\\fBresidua\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n"
      ".SH DESCRIPTION\n"
      "residua chooses noise for the tables that are asked for, measures the data once, and writes "
      "every table with exact error bars. The usual order of commands is init, check, release; "
      "plan, measure and tables are the steps of release.\n"
      ".SH COMMANDS\n",
      Version(), Roff(app.get_description()));
  for (const Command& command : CommandsOf(app)) {
    if (command.path.empty()) continue;
    text += fmt::format(".SS {}\n{}\n", RoffUsage(command), Roff(command.app->get_description()));
    for (const CLI::Option* positional : Positionals(*command.app)) {
      text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", Roff(positional->get_name()),
                          Roff(positional->get_description()));
    }
    for (const CLI::Option* option : Flags(*command.app)) text += RoffOption(*option);
    if (!command.app->get_footer().empty()) {
      text += fmt::format(".PP\n.nf\n{}\n.fi\n", Roff(command.app->get_footer()));
    }
  }
  text +=
      ".SH EXIT STATUS\n"
      "0: done. 1: bad input. 2: refused, because privacy or safety would suffer.\n";
  return text;
}

}  // namespace residua::cli
