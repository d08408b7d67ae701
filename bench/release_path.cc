// The path of a release through the library alone: a plan for SPEC, its data read and measured into
// memory, every table read back with its variances. bench/python_bench.py compares with it.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>

#include "bench/stopwatch.h"
#include "residua/files/file.h"
#include "residua/files/spec.h"
#include "residua/reconstruct/table_answers.h"
#include "residua/reconstruct/table_batches.h"
#include "residua/release/measure_to_file.h"
#include "residua/select/plan_errors.h"
#include "residua/select/select.h"

namespace residua {
namespace {

// The number of answers read, so that the compiler cannot remove the work.
int64_t ReadBack(const Plan& plan, const std::vector<NoisyResidual>& residuals) {
  const ResidualIndex index = IndexResiduals(plan, residuals);
  const std::vector<AxisAnswers> axes = AxesOf(plan, AnswerKind::kPlanned);
  const std::vector<TableErrors> errors = PredictErrors(plan);
  std::vector<AttributeSet> tables;
  for (const ListedTable& table : ListTables(plan, errors)) tables.push_back(table.attributes);
  int64_t num_answers = 0;
  ReconstructTables(index, tables, {}, [&](size_t t, std::span<const double> counts) {
    std::vector<const AxisAnswers*> of_table;
    for (const int i : tables[t]) of_table.push_back(&axes[static_cast<size_t>(i)]);
    const std::vector<double> answers = AnswerTable(counts, of_table);
    const std::vector<double> variances = AnswerVariances(index, tables[t], of_table);
    if (!variances.empty()) num_answers += static_cast<int64_t>(answers.size());
  });
  return num_answers;
}

void Run(const std::filesystem::path& path) {
  std::optional<PlanFile> plan;
  std::vector<NoisyResidual> residuals;
  int64_t num_answers = 0;
  const Spec spec = ReadReleasableSpec(path);
  const bench::Times planning = bench::TimesOf([&] {
    plan = PlanFile{Select(RequestOf(spec)), spec.data};
  });
  const bench::Times measuring = bench::TimesOf([&] {
    MeasureToMemory({*plan, FindPlaces(spec.data, FolderOf(path)), ""}, &residuals);
  });
  const bench::Times reading =
      bench::TimesOf([&] { num_answers = ReadBack(plan->plan, residuals); });
  const auto times = [](const bench::Times& step) {
    return fmt::format("[{:.3f}, {:.3f}]", step.wall, step.processor);
  };
  fmt::print("{{\"plan\": {}, \"measure\": {}, \"read\": {}, \"cells\": {}}}\n", times(planning),
             times(measuring), times(reading), num_answers);
}

}  // namespace
}  // namespace residua

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: release_path SPEC\n");
    return 1;
  }
  try {
    residua::Run(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "release_path: {}\n", error.what());
    return 1;
  }
  return 0;
}
