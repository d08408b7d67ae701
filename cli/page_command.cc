#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/measurement_argument.h"
#include "cli/page_report.h"
#include "cli/print_text.h"
#include "residua/base/counted.h"
#include "residua/base/error.h"
#include "residua/release/page.h"
#include "residua/text/json_text.h"

namespace residua::cli {
namespace {

struct PageOptions {
  PageRequest request;
  std::string spec;
  double page_size = kDefaultPageBytes / 1e6;
  bool json = false;
};

void Run(PageOptions& options) {
  PageRequest& request = options.request;
  request.max_bytes = ParsePageSize(options.page_size);
  if (!options.spec.empty()) {
    const Spec spec = ReadSpec(options.spec);
    request.text = spec.release;
    request.is_query = !spec.data.query.empty();
  }
  const PageWritten written = WritePage(request);
  if (options.json) {
    const Json json = {{"output", written.output.string()},
                       {"bytes", written.num_bytes},
                       {"tables", written.num_tables},
                       {"left_out", written.left_out}};
    fmt::print("{}\n", IndentedJson(json));
  } else {
    PrintText("{} in {}, {:.1f} MB\n", Counted(written.num_tables, "table"),
              written.output.string(), static_cast<double>(written.num_bytes) / 1e6);
  }
  ReportLeftOut(written);
}

}  // namespace

int64_t ParsePageSize(double megabytes) {
  // Beyond this no browser opens a page.
  constexpr double kMostMegabytes = 1000;
  if (!(megabytes > 0 && megabytes <= kMostMegabytes)) {
    Fail(ErrorKind::kBadInput, "--page-size {}: it must be above 0 and at most {} MB", megabytes,
         kMostMegabytes);
  }
  return static_cast<int64_t>(megabytes * 1e6);
}

void ReportLeftOut(const PageWritten& written) {
  if (written.left_out.empty()) return;
  PrintText(stderr,
            "note: {} did not fit into {}, the largest {}; allow a larger --page-size, or make "
            "{} with residua tables\n",
            Counted(std::ssize(written.left_out), "table"), written.output.string(),
            written.left_out.front(), written.left_out.size() == 1 ? "it" : "them");
}

void AddPageCommand(CLI::App* app) {
  auto options = std::make_shared<PageOptions>();
  CLI::App* command = app->add_subcommand(
      "page", "Write one HTML file in which readers look at the tables and ask questions");
  command->footer(
      "Examples:\n"
      "  residua page measurements.parquet -o people.html --spec people.toml\n"
      "  residua page measurements.parquet --page-size 50\n"
      "The page works without a server and without a network: the noisy values and residua's own "
      "arithmetic are inside. Nothing of it depends on the data but the noisy values.");
  AcceptReleaseFolder(command->add_option("MEASUREMENTS", options->request.measurements,
                                          "The measurement file, or the folder of a release"))
      ->required();
  options->request.output = "index.html";
  command->add_option("-o,--output", options->request.output, "The file; by default index.html");
  command->add_option("--spec", options->spec,
                      "A spec file whose [release] section has the title, the description, the "
                      "publisher, the date, the contact and the licence");
  command->add_option("--page-size", options->page_size,
                      "The largest size of the page in MB; by default 20. The largest tables are "
                      "left out if they do not fit");
  command->add_option("--confidence", options->request.confidence,
                      "Confidence of the intervals that the page begins with; by default 0.95");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([options] { Run(*options); });
}

}  // namespace residua::cli
