#include "residua/draft/release_cost.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "residua/base/error.h"
#include "residua/base/threads.h"
#include "residua/measure/counted_rows.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/measure.h"
#include "residua/measure/slab_cut.h"
#include "residua/measure/sliced/counting_units.h"
#include "residua/select/plan_errors.h"

namespace residua {
namespace {

// Figures for a person who decides whether to wait; measured on two processors of 2020 with tables
// of 1e5 to 1e7 rows and 1e2 to 2e7 cells.
constexpr double kSecondsAtStart = 0.1;  // opening files, syncing them, the ledger
constexpr double kSecondsPerCountedRow = 1.2e-9;
constexpr double kSecondsPerCell = 2e-7;      // counting down, noise, the measurement file
constexpr double kSecondsPerSlabCell = 2e-8;  // the same for a large set
constexpr double kSecondsPerAnswer = 1e-7;    // estimates, and a row of a table file
constexpr double kBytesAtStart = 5e7;         // the program and DuckDB
constexpr double kBytesPerIdentifier = 100;   // its text in a hash table
constexpr double kBytesPerIdentifiedRow = 10;
constexpr double kBytesPerCell = 40;    // counts and noisy values of what is measured at once
constexpr double kBytesPerAnswer = 16;  // an estimate and a standard deviation
// Where an attribute has queries other than the identity, all measured values that a table needs are
// held, with sweeps along the axes on top. From 3 million answers to 22 million these were within a
// fifth of what hierarchies, prefix sums and ranges took.
constexpr double kBytesPerSweptAnswer = 30;
constexpr double kBytesPerSweptValue = 25;
constexpr double kMostBytesBuffered = 1e9;
// Tables of identity attributes with more answers are written in slabs (release/stream_tables.h).
constexpr double kMostWholeAnswers = 1 << 24;

bool IsOfIdentityAttributes(const Plan& plan, const std::vector<int>& orbit) {
  return std::all_of(orbit.begin(), orbit.end(),
                     [&](int c) { return plan.bases[static_cast<size_t>(c)].is_identity(); });
}

double LargestCells(const Domain& domain, const std::vector<AttributeSet>& sets) {
  double largest = 0;
  for (const AttributeSet& set : sets) {
    largest = std::max(largest, static_cast<double>(NumCellsInMemory(domain, set)));
  }
  return largest;
}

// The same of all measured sets, from their orbits, which are few where the sets are many.
double LargestCells(const Plan& plan) {
  double largest = 0;
  for (int64_t k = 0; k < plan.mechanisms.size(); ++k) {
    double cells = 1;
    for (const int c : plan.mechanisms[k]) {
      cells *= static_cast<double>(plan.bases[static_cast<size_t>(c)].size);
    }
    largest = std::max(largest, cells);
  }
  return largest;
}

void AddTables(const Plan& plan, ReleaseSize* size) {
  for (const TableErrors& table : PredictErrors(plan)) {
    const bool in_slabs =
        table.num_answers > kMostWholeAnswers && IsOfIdentityAttributes(plan, table.orbit);
    const double whole = in_slabs ? kMostWholeAnswers : table.num_answers;
    if (IsOfIdentityAttributes(plan, table.orbit)) {
      size->largest_answers = std::max(size->largest_answers, whole);
    } else {
      double num_values = 1;  // of all subsets
      for (const int c : table.orbit) {
        const ResidualBasis& basis = plan.bases[static_cast<size_t>(c)];
        num_values *= 1 + static_cast<double>(NumRowsOf(basis.matrix, basis.size));
      }
      size->swept_bytes = std::max(size->swept_bytes,
                                   kBytesPerSweptAnswer * whole + kBytesPerSweptValue * num_values);
    }
    size->num_answers += table.num_tables * table.num_answers;
  }
}

double TableBytes(const ReleaseSize& size) {
  return std::max(kBytesPerAnswer * size.largest_answers, size.swept_bytes);
}

bool Fits(double bytes, int64_t machine_bytes) {
  constexpr double kUncertainty = 2;
  return bytes <= kUncertainty * static_cast<double>(machine_bytes);
}

void CheckFits(std::string_view work, double bytes, int64_t machine_bytes) {
  constexpr double kGigabyte = 1e9;
  if (Fits(bytes, machine_bytes)) return;
  Fail(ErrorKind::kTooLarge,
       "{} takes about {:.1f} GB of memory, and this machine has {:.1f} GB; leave out the largest "
       "tables, make their cells coarser, or use a larger machine",
       work, bytes / kGigabyte, static_cast<double>(machine_bytes) / kGigabyte);
}

}  // namespace

ReleaseSize SizeOfRelease(const Plan& plan, double num_rows, double num_identifiers) {
  ReleaseSize size{.num_rows = num_rows, .num_identifiers = num_identifiers};
  const std::vector<AttributeSet> sets = MeasuredSets(plan);
  const CountingOptions options;
  const SplitSets split = SplitBySize(plan.domain, sets, options);
  const bool holds_tables = MustHoldRows(plan.domain, sets, options);
  // Otherwise they are counted as they come.
  if (!plan.protection.identifier.empty() || holds_tables) {
    for (const Attribute& attribute : plan.domain.attributes()) {
      size.bytes_per_row += static_cast<double>(CodeBytes(attribute));
    }
  }
  size.largest_cells = LargestCells(plan.domain, split.whole);
  for (const AttributeSet& set : split.whole) {
    size.num_cells += static_cast<double>(NumCellsInMemory(plan.domain, set));
  }
  double count_bytes = 0;
  double work_bytes = 0;
  for (const AttributeSet& set : split.in_slabs) {
    const SlabCut cut = *CutIntoSlabs(plan.domain, set, options);
    const auto bytes = static_cast<double>(SlabCountBytes(cut, std::llround(num_rows)));
    // All at once as rows come, one after the other from rows that are held.
    count_bytes = holds_tables ? std::max(count_bytes, bytes) : count_bytes + bytes;
    // Values of 64 bits, which are most, take a third.
    const auto work = static_cast<double>(SlabWorkBytes(cut, Threads(0).count()));
    work_bytes = std::max(work_bytes, work / 3);
    size.slab_cells += static_cast<double>(cut.num_cells());
  }
  size.slab_bytes = count_bytes + work_bytes;
  AddTables(plan, &size);
  const std::vector<CountedTable> counted = PlanCounting(plan.domain, split.whole, 1000000);
  size.num_counted = static_cast<double>(AdditionsPerRow(plan.domain, counted)) +
                     static_cast<double>(split.in_slabs.size());
  size.sorting_bytes = static_cast<double>(
      SortingBytes(plan.domain, counted, size.bytes_per_row > 0, Threads(0).count()));
  return size;
}

double PredictSeconds(const ReleaseSize& size, int num_threads) {
  return kSecondsAtStart +
         (size.num_counted * size.num_rows * kSecondsPerCountedRow +
          size.num_cells * kSecondsPerCell + size.slab_cells * kSecondsPerSlabCell +
          size.num_answers * kSecondsPerAnswer) /
             num_threads;
}

double PredictMemoryBytes(const ReleaseSize& size) {
  double rows = size.bytes_per_row * size.num_rows;
  if (size.num_identifiers > 0) {
    rows += kBytesPerIdentifier * size.num_identifiers + kBytesPerIdentifiedRow * size.num_rows;
  }
  const double measuring = std::max(kBytesPerCell * size.largest_cells,
                                    std::min(kMostBytesBuffered, kBytesPerCell * size.num_cells));
  return kBytesAtStart + rows + size.sorting_bytes +
         std::max(size.slab_bytes + measuring, TableBytes(size));
}

void CheckMeasuringFits(const Plan& plan, int64_t machine_bytes) {
  // Listing a million sets takes longer than most of what is done before rows are read.
  if (Fits(kBytesPerCell * LargestCells(plan), machine_bytes)) return;
  const SplitSets split = SplitBySize(plan.domain, MeasuredSets(plan), CountingOptions());
  CheckFits("measuring this plan", kBytesPerCell * LargestCells(plan.domain, split.whole),
            machine_bytes);
}

void CheckTablesFit(const Plan& plan, int64_t machine_bytes) {
  ReleaseSize size;
  AddTables(plan, &size);
  CheckFits("making the tables of this plan", TableBytes(size), machine_bytes);
}

}  // namespace residua
