#include "residua/draft/release_cost.h"

#include <algorithm>

#include "residua/measure/counted_rows.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/measure.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

// Figures for a person who decides whether to wait; measured on two processors of 2020 with tables
// of 1e5 to 1e7 rows and 1e2 to 2e7 cells.
constexpr double kSecondsAtStart = 0.1;  // opening files, syncing them, the ledger
constexpr double kSecondsPerCountedRow = 1.2e-9;
constexpr double kSecondsPerCell = 2e-7;     // counting down, noise, the measurement file
constexpr double kSecondsPerAnswer = 1e-7;   // estimates, and a row of a table file
constexpr double kBytesAtStart = 5e7;        // the program and DuckDB
constexpr double kBytesPerIdentifier = 100;  // its text in a hash table
constexpr double kBytesPerIdentifiedRow = 10;
constexpr double kBytesPerCell = 40;    // counts and noisy values of what is measured at once
constexpr double kBytesPerAnswer = 16;  // an estimate and a standard deviation
constexpr double kMostBytesBuffered = 1e9;

}  // namespace

ReleaseSize SizeOfRelease(const Plan& plan, double num_rows, double num_identifiers) {
  ReleaseSize size{.num_rows = num_rows, .num_identifiers = num_identifiers};
  const std::vector<AttributeSet> sets = MeasuredSets(plan);
  // Otherwise they are counted as they come.
  if (!plan.protection.identifier.empty() || MustHoldRows(plan.domain, sets, CountingOptions())) {
    for (const Attribute& attribute : plan.domain.attributes()) {
      size.bytes_per_row += static_cast<double>(CodeBytes(attribute));
    }
  }
  for (const AttributeSet& set : sets) {
    const auto cells = static_cast<double>(NumCellsInMemory(plan.domain, set));
    size.largest_cells = std::max(size.largest_cells, cells);
    size.num_cells += cells;
  }
  for (const TableErrors& table : PredictErrors(plan)) {
    size.largest_answers = std::max(size.largest_answers, table.num_answers);
    size.num_answers += table.num_tables * table.num_answers;
  }
  size.num_counted = static_cast<double>(PlanCounting(plan.domain, sets, 1000000).size());
  return size;
}

double PredictSeconds(const ReleaseSize& size, int num_threads) {
  return kSecondsAtStart +
         (size.num_counted * size.num_rows * kSecondsPerCountedRow +
          size.num_cells * kSecondsPerCell + size.num_answers * kSecondsPerAnswer) /
             num_threads;
}

double PredictMemoryBytes(const ReleaseSize& size) {
  double rows = size.bytes_per_row * size.num_rows;
  if (size.num_identifiers > 0) {
    rows += kBytesPerIdentifier * size.num_identifiers + kBytesPerIdentifiedRow * size.num_rows;
  }
  const double measuring = std::max(kBytesPerCell * size.largest_cells,
                                    std::min(kMostBytesBuffered, kBytesPerCell * size.num_cells));
  return kBytesAtStart + rows + std::max(measuring, kBytesPerAnswer * size.largest_answers);
}

}  // namespace residua
