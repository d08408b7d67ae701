// Every stage of a release beside its limit, and how it grows:
//   stages_bench [STAGE...] [--tsv FILE]     all stages in a few minutes; Markdown to stdout

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <tbb/info.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/stages/stage.h"
#include "bench/stages/timed_growth.h"
#include "residua/base/error.h"
#include "residua/files/file.h"

namespace residua::bench {

std::vector<int> ThreadCounts() {
  const int most = tbb::info::default_concurrency();
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

namespace {

struct Stage {
  std::string name;
  std::vector<MakeGrowth> (*growths)();
};
const std::vector<Stage> kStages = {
    {"select", SelectGrowths},           {"count", CountGrowths},
    {"transform", TransformGrowths},     {"sample", SampleGrowths},
    {"reconstruct", ReconstructGrowths}, {"query", QueryGrowths},
};

void Main(const std::vector<std::string>& wanted, const std::string& tsv_file) {
  std::string summary =
      "| stage | of | at | residua | ratio to the limit |\n|---|---|---|---|---|\n";
  std::string details;
  std::string tsv = TsvHeader();
  for (const Stage& stage : kStages) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), stage.name) == wanted.end()) {
      continue;
    }
    fmt::print(stderr, "{}\n", stage.name);
    details += fmt::format("\n### {0}\n![{0}](bench_{0}.svg)\n", stage.name);
    for (const MakeGrowth& make : stage.growths()) {
      const TimedGrowth growth = TimeGrowth(make());
      summary += SummaryRow(growth);
      details += "\n" + TableOf(growth);
      tsv += TsvOf(growth);
    }
  }
  if (!tsv_file.empty()) WriteFileAtomically(tsv_file, tsv, FileKind::kAnything);
  fmt::print("{}{}", summary, details);
}

}  // namespace
}  // namespace residua::bench

int main(int argc, char** argv) {
  // Runs of all kinds take turns, so that a busy moment of the machine affects all of them.
  std::vector<char*> arguments(argv, argv + argc);
  std::string interleaved = "--benchmark_enable_random_interleaving=true";
  arguments.insert(arguments.begin() + 1, interleaved.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  CLI::App app("Every stage of a release beside its limit, and how it grows");
  std::vector<std::string> stages;
  std::string tsv_file;
  std::vector<std::string> names;
  for (const auto& stage : residua::bench::kStages) names.push_back(stage.name);
  app.add_option("STAGE", stages, "Some stages only")->check(CLI::IsMember(names));
  app.add_option("--tsv", tsv_file, "Also write every time to this file, for bench/charts.py");
  CLI11_PARSE(app, count, arguments.data());
  try {
    residua::bench::Main(stages, tsv_file);
  } catch (const residua::Error& error) {
    fmt::print(stderr, "stages_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
