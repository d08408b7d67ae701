#include <unistd.h>

#include "cli/commands.h"
#include "cli/print_text.h"
#include "residua/base/error.h"
#include "residua/draft/draft_spec.h"
#include "residua/files/file.h"
#include "residua/files/spec.h"

namespace residua::cli {
namespace {

struct InitOptions {
  std::string data;
  std::string output;
};

void Run(const InitOptions& options) {
  const bool has_output = !options.output.empty();
  if (has_output) CheckReplaceable(options.output, FileKind::kNew);
  DataReference data;
  data.source = options.data;
  if (has_output) data = Rebase(data, ".", FolderOf(options.output));
  const std::string draft = DraftSpec(options.data, data.source);
  if (has_output) {
    WriteFileAtomically(options.output, draft, FileKind::kNew);
  } else {
    fmt::print("{}", draft);
  }
  if (!has_output && isatty(STDOUT_FILENO) == 1) return;
  const std::string spec = has_output ? options.output : "SPEC";
  PrintText(stderr,
            "Next: in the draft, replace each domain by what is publicly known and remove its "
            "check line;\n"
            "then residua check {}, and residua release {} -o DIR\n",
            spec, spec);
}

}  // namespace

void AddInitCommand(CLI::App* app) {
  auto options = std::make_shared<InitOptions>();
  CLI::App* command = app->add_subcommand("init", "Draft a spec from the columns of a data file");
  command->footer(
      "Example: residua init people.csv > people.toml\n"
      "The draft's domains are read from the data, and marked: a domain must be public knowledge, "
      "so replace each by\n"
      "what is known without the data and remove its check line. Marked specs can be planned, not "
      "measured.\n"
      "The draft names the data as you do here; keep it in this folder, or write it elsewhere with "
      "-o.");
  command->add_option("DATA", options->data, "The data: a CSV, TSV, Parquet or JSON file")
      ->required();
  command->add_option("-o,--output", options->output,
                      "Write the spec to this file, which must not exist");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
