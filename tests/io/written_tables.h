#pragma once

#include <cmath>
#include <filesystem>
#include <span>
#include <vector>

#include "residua/io/measurement_file.h"
#include "residua/io/stream_tables.h"
#include "residua/io/table_files.h"
#include "residua/measure/measure.h"
#include "residua/reconstruct/table_answers.h"

namespace residua {

// The table of every measured set, with the answers that the plan is for.
inline void WriteAllTables(const MeasurementFile& file, const std::filesystem::path& path,
                           TableFormat format) {
  const Plan& plan = file.plan();
  const std::vector<AxisAnswers> axes = AxesOf(plan, AnswerKind::kPlanned);
  const auto writer = MakeTableWriter(path, format, TableColumns::kEstimates, "{}");
  const auto write = [&](const ResidualIndex& index, const AttributeSet& set,
                         std::span<const double> counts) {
    PublishedTable table;
    std::vector<const AxisAnswers*> of_table;
    for (const int i : set) {
      of_table.push_back(&axes[static_cast<size_t>(i)]);
      table.attributes.push_back(plan.domain[i].name);
      table.labels.push_back(of_table.back()->labels);
    }
    const std::vector<double> answers = AnswerTable(counts, of_table);
    std::vector<double> std_devs = AnswerVariances(index, set, of_table);
    for (double& value : std_devs) value = std::sqrt(value);
    table.estimates = answers;
    table.std_devs = std_devs;
    table.interval_factor = 2;
    writer->Write(table);
  };
  StreamTables(file, MeasuredSets(plan), {}, write);
  writer->Finish();
}

}  // namespace residua
