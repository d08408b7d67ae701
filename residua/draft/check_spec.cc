#include "residua/draft/check_spec.h"

#include <algorithm>
#include <chrono>

#include "residua/measure/counting_plan.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/measure.h"
#include "residua/select/select.h"

namespace residua {
namespace {

// Rough figures, for a person who decides whether to wait; measured on two cores of 2020.
constexpr double kSecondsPerCountedRow = 1.2e-9;
constexpr double kSecondsPerCell = 2e-7;  // noise, files and tables, for each cell of each table
constexpr double kBytesPerCell = 24;      // counts, noisy values and estimates of the largest table
constexpr double kBytesAtStart = 1e8;     // the program, DuckDB and its buffers
constexpr double kMostBytesBuffered = 1e9;  // of the tables that are held at once

void Predict(const Plan& plan, double reading_seconds, SpecCheck* check) {
  const int64_t num_rows = check->report.num_rows_read;
  const std::vector<AttributeSet> sets = MeasuredSets(plan);
  double row_bytes = 0;
  for (const Attribute& attribute : plan.domain.attributes()) {
    row_bytes +=
        std::visit([](const auto& column) { return static_cast<double>(sizeof(column.front())); },
                   CodeColumn(EmptyCodeColumn(attribute)));
  }
  double largest = 0;
  double num_cells = 0;
  for (const AttributeSet& set : sets) {
    const auto cells = static_cast<double>(NumCellsInMemory(plan.domain, set));
    largest = std::max(largest, cells);
    num_cells += cells;
  }
  check->memory_bytes =
      kBytesAtStart + row_bytes * static_cast<double>(num_rows) +
      std::max(kBytesPerCell * largest, std::min(kMostBytesBuffered, kBytesPerCell * num_cells));
  const auto num_counted =
      static_cast<double>(PlanCounting(plan.domain, sets, num_rows, 1000000).size());
  check->seconds = reading_seconds +
                   num_counted * static_cast<double>(num_rows) * kSecondsPerCountedRow +
                   num_cells * kSecondsPerCell;
}

std::vector<Error> Obstacles(const Plan& plan, const std::string& name, const ReadReport& report) {
  std::vector<Error> obstacles;
  const auto try_to = [&](const auto& check) {
    try {
      AtPlace(name, check);
    } catch (const Error& error) {
      obstacles.push_back(error);
    }
  };
  for (const AttributeReport& attribute : report.attributes) {
    if (attribute.first_error) obstacles.push_back(*attribute.first_error);
  }
  try_to([&] { CheckDomainIsPublic(plan.domain); });
  if (obstacles.empty()) {
    try_to([&] { MeasurablePlan(VerifiedPlan(plan), report.num_rows_read, {}); });
  }
  return obstacles;
}

}  // namespace

SpecCheck CheckSpec(const Spec& spec, const std::string& name, const DataSource& data,
                    const RowProgress& on_rows) {
  SpecCheck check;
  check.plan = Select(RequestOf(spec));
  const auto start = std::chrono::steady_clock::now();
  check.report = SurveyTable(data, spec.domain, spec.protection, on_rows);
  const std::chrono::duration<double> reading = std::chrono::steady_clock::now() - start;
  Predict(check.plan, reading.count(), &check);
  check.obstacles = Obstacles(check.plan, name, check.report);
  check.better_alone = FindBetterAlone(check.plan, PredictErrors(check.plan));
  return check;
}

}  // namespace residua
