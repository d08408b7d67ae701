#include "residua/release/planning_page.h"

#include "residua/base/error.h"
#include "residua/base/version.h"
#include "residua/draft/edit_spec.h"
#include "residua/files/file.h"
#include "residua/files/spec.h"
#include "residua/release/page_template.h"
#include "residua/release/page_text.h"

namespace residua {
namespace {

// What the page calls a spec that has no file yet.
constexpr std::string_view kBlankName = "spec.toml";

}  // namespace

std::string BlankSpec() {
  return R"(# The attributes are examples: replace them by the columns of your data.
[data]
source = "data.csv"

[privacy]
epsilon = 1
delta = 1e-9

[attributes.age]
integers = [0, 99]
outside = "clamp"
queries = "prefix"

[attributes.sex]
values = ["female", "male"]

[workload]
marginals = "<=2"
)";
}

PlanningPageWritten WritePlanningPage(const std::filesystem::path& spec,
                                      const std::filesystem::path& output) {
  std::error_code is_new;
  if (!spec.empty() && std::filesystem::equivalent(spec, output, is_new)) {
    Fail(ErrorKind::kBadInput, "{}: this is the spec itself; {}", output.string(),
         Phrase{Phrase::Kind::kOtherOutput});
  }
  const std::string name = spec.empty() ? std::string(kBlankName) : spec.filename().string();
  const std::string text = spec.empty() ? BlankSpec() : ReadFile(spec);
  ParseSpec(text, spec.empty() ? name : spec.string());
  Json files = Json::object();
  for (const std::string& file : MatrixFilesOf(text, name)) {
    files[file] = ReadFile(spec.parent_path() / file);
  }
  const Json start = {
      {"name", name}, {"text", text}, {"files", std::move(files)}, {"version", Version()}};
  const std::string html = FilledTemplate(
      PlannerPageTemplate(), name,
      "<script type=\"application/json\" id=\"start\">" + InPage(start) + "</script>");
  WriteFileAtomically(output, html, FileKind::kPage);
  return {output, static_cast<int64_t>(html.size())};
}

}  // namespace residua
