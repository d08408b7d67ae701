#include "python/binding/words.h"

#include <regex>
#include <vector>

namespace residua::python {
namespace {

struct Translation {
  std::regex command_line;
  std::string python;
};

const std::vector<Translation>& Translations() {
  static const std::vector<Translation> translations = [] {
    const std::vector<std::pair<const char*, const char*>> texts = {
        {"choose another -o", "choose another path"},
        {"add --data FILE", "pass it to measure"},
        {"make tables of it with residua tables", "load it with residua.load"},
        {R"(residua ledger forgive (\d+) --ledger (.*?) --reason \.\.\.)",
         R"re(residua.Ledger("$2").forgive($1, reason=...))re"},
        {R"(residua ledger forgive (\d+))", "Ledger.forgive($1, reason=...)"},
        {R"(residua ledger grant --rho (\S+) --reason \.\.\.)", "Ledger.grant(rho=$1, reason=...)"},
        {"residua measure PLAN --again", "measure(..., again=True)"},
        {"make one with residua measure PLAN", "make one with measure and save"},
        {"residua measure makes one", "measuring makes one"},
        {"make one with residua plan SPEC -o PLAN", "make one with Plan.save"},
        {"another ledger with --ledger and", "another ledger and"},
        {"max-std-dev", "max_std_dev"},
        {"target-loss", "target_loss"},
        {"null = true", "null=True"},
        {"outside = \"", "outside=\""},
    };
    std::vector<Translation> compiled;
    for (const auto& [command_line, python] : texts) {
      compiled.push_back({std::regex(command_line), python});
    }
    return compiled;
  }();
  return translations;
}

}  // namespace

std::string PythonWords(std::string message) {
  for (const Translation& translation : Translations()) {
    message = std::regex_replace(message, translation.command_line, translation.python);
  }
  return message;
}

}  // namespace residua::python
