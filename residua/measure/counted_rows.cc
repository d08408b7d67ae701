#include "residua/measure/counted_rows.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <mutex>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/base/threads.h"
#include "residua/measure/counted_cells.h"
#include "residua/measure/counting.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/marginal_batches.h"
#include "residua/measure/slab_cut.h"
#include "residua/measure/sliced/counting_units.h"
#include "residua/measure/sliced/sliced_tables.h"
#include "residua/measure/split_rows.h"
#include "residua/measure/table_counters.h"
#include "residua/measure/true_slabs.h"

namespace residua {

// Counters are streamed, or rows are held.
struct CountedRows::State {
  const Domain& domain;
  std::vector<AttributeSet> sets;
  CountingOptions options;
  SplitSets split;
  std::vector<CountedTable> plan;  // of the sets that are counted whole
  bool holds_rows = false;
  std::atomic<int64_t> num_rows = 0;
  // One for each table of the plan, unless the rows are held.
  std::vector<TableCounters> counters = {};
  // Which of them are counted together: a table by one thread at a time, or tables in slices.
  std::vector<CountingUnit> units = {};
  std::deque<std::variant<std::mutex, SlicedTables>> counting = {};
  std::atomic<size_t> next_start = 0;
  // What threads pack and sort rows in, while none uses it: there is never more than one for each
  // thread.
  struct Memory {
    RowMemory packed;
    RowMemory sorted;
  };
  std::vector<Memory> free_memory = {};
  std::mutex sorting = {};
  // One for each set that is counted in slabs, unless the rows are held.
  std::vector<std::unique_ptr<TrueSlabs>> slabs = {};
  // The rows that are held.
  std::vector<EncodedTable> parts = {};
  std::mutex holding = {};

  // The number of all rows, these included.
  int64_t AddNumber(int64_t more) {
    int64_t before = num_rows.load();
    while (!num_rows.compare_exchange_weak(before, CheckedAdd(before, more))) {
    }
    CheckRowsFit(domain, sets, CheckedAdd(before, more));
    return CheckedAdd(before, more);
  }

  Memory TakeMemory() {
    const std::lock_guard<std::mutex> lock(sorting);
    if (free_memory.empty()) return {};
    Memory memory = std::move(free_memory.back());
    free_memory.pop_back();
    return memory;
  }

  void GiveBack(Memory&& memory) {
    const std::lock_guard<std::mutex> lock(sorting);
    free_memory.push_back(std::move(memory));
  }

  // Adds the rows to all units with slices.
  void AddSliced(const EncodedTable& rows, int64_t rows_so_far, size_t start) {
    const RowDigits* const digits = RowDigitsOf(units);
    if (digits == nullptr) return;
    Memory memory = TakeMemory();
    for (int64_t first = 0; first < rows.num_rows(); first += PackedRows::kMostRows) {
      const PackedRows packed(rows, first, std::min(first + PackedRows::kMostRows, rows.num_rows()),
                              *digits, &memory.packed);
      for (size_t k = 0; k < units.size(); ++k) {
        auto* sliced = std::get_if<SlicedTables>(&counting[(start + k) % units.size()]);
        if (sliced != nullptr) {
          sliced->Add(packed, rows_so_far, start, options.stop, &memory.sorted);
        }
      }
    }
    GiveBack(std::move(memory));
  }
};

namespace {

bool MustHold(const Domain& domain, const SplitSets& split, std::span<const CountedTable> plan,
              const CountingOptions& options) {
  int64_t bytes = 0;
  for (const CountedTable& counted : plan) {
    bytes = CheckedAdd(bytes, CheckedMultiply(counted.num_cells, sizeof(uint64_t)));
  }
  int64_t slab_bytes = 0;
  for (const AttributeSet& set : split.in_slabs) {
    slab_bytes = CheckedAdd(slab_bytes, SlabCountBytes(*CutIntoSlabs(domain, set, options)));
  }
  return bytes > options.memory_budget_bytes || slab_bytes > options.memory_limit_bytes / 2;
}

}  // namespace

bool MustHoldRows(const Domain& domain, std::span<const AttributeSet> sets,
                  const CountingOptions& options) {
  const SplitSets split = SplitBySize(domain, sets, options);
  return MustHold(domain, split, PlanWithin(domain, split.whole, options), options);
}

CountedRows::CountedRows(const Domain& domain, std::vector<AttributeSet> sets,
                         const CountingOptions& options) {
  SplitSets split = SplitBySize(domain, sets, options);
  std::vector<CountedTable> plan = PlanWithin(domain, split.whole, options);
  CheckWithinLimit(domain, split, plan, sizeof(uint32_t), options);
  const bool holds_rows = MustHold(domain, split, plan, options);
  state_.reset(
      new State{domain, std::move(sets), options, std::move(split), std::move(plan), holds_rows});
  if (holds_rows) return;
  for (const CountedTable& counted : state_->plan) {
    state_->counters.emplace_back(counted.num_cells, std::numeric_limits<uint32_t>::max() /
                                                         RowSteps(domain, counted.attributes));
  }
  state_->units = UnitsOf(domain, state_->plan);
  for (const CountingUnit& unit : state_->units) {
    if (unit.slices) {
      state_->counting.emplace_back(
          std::in_place_type<SlicedTables>, *unit.slices,
          std::span(state_->counters).subspan(unit.first, unit.last - unit.first));
    } else {
      state_->counting.emplace_back(std::in_place_type<std::mutex>);
    }
  }
  for (const AttributeSet& set : state_->split.in_slabs) {
    state_->slabs.push_back(
        std::make_unique<TrueSlabs>(domain, set, *CutIntoSlabs(domain, set, options)));
  }
}

CountedRows::CountedRows(CountedRows&&) noexcept = default;
CountedRows::~CountedRows() = default;

int64_t CountedRows::num_rows() const { return state_->num_rows; }
const std::vector<AttributeSet>& CountedRows::sets() const { return state_->sets; }
bool CountedRows::holds_rows() const { return state_->holds_rows; }

int64_t CountedRows::rows_per_part() const {
  return RowsPerPart(state_->domain, state_->plan, state_->holds_rows);
}

std::optional<EncodedTable> CountedRows::Add(EncodedTable&& rows) {
  CheckIsOfDomain(rows, state_->domain);
  const int64_t rows_so_far = state_->AddNumber(rows.num_rows());
  if (state_->holds_rows) {
    const std::lock_guard<std::mutex> lock(state_->holding);
    state_->parts.push_back(std::move(rows));
    return std::nullopt;
  }
  const std::vector<CountingUnit>& units = state_->units;
  // Threads that add at once begin with different tables, so that they seldom wait for each other.
  const size_t start = state_->next_start.fetch_add(units.size() / 3 + 1);
  state_->AddSliced(rows, rows_so_far, start);
  for (size_t k = 0; k < units.size(); ++k) {
    CheckNotStopped(state_->options.stop);
    const size_t u = (start + k) % units.size();
    if (units[u].slices) continue;
    const std::lock_guard<std::mutex> lock(std::get<std::mutex>(state_->counting[u]));
    state_->counters[units[u].first].Add(rows, state_->plan[units[u].first].attributes);
  }
  for (const auto& slabs : state_->slabs) {
    CheckNotStopped(state_->options.stop);
    slabs->Add(rows);
  }
  return std::move(rows);
}

void CountedRows::AddAlone(std::vector<EncodedTable>&& rows) {
  state_->free_memory.clear();
  int64_t rows_so_far = 0;
  for (const EncodedTable& part : rows) {
    CheckIsOfDomain(part, state_->domain);
    rows_so_far = state_->AddNumber(part.num_rows());
  }
  if (state_->holds_rows) {
    for (EncodedTable& part : rows) state_->parts.push_back(std::move(part));
    return;
  }
  Threads threads(state_->options.num_threads);
  threads.Run([&] {
    ParallelFor(size_t{0}, state_->units.size(), [&](size_t u) {
      const size_t t = state_->units[u].first;
      auto* sliced = std::get_if<SlicedTables>(&state_->counting[u]);
      for (const EncodedTable& part : rows) {
        CheckNotStopped(state_->options.stop);
        if (sliced != nullptr) {
          sliced->AddAlone(part, rows_so_far, state_->options.stop);
        } else {
          state_->counters[t].Add(part, state_->plan[t].attributes);
        }
      }
    });
    for (const auto& slabs : state_->slabs) {
      ParallelFor(size_t{0}, rows.size(), [&](size_t part) {
        CheckNotStopped(state_->options.stop);
        slabs->Add(rows[part]);
      });
    }
  });
}

struct CountedRowsState {
  static CountedRows::State& Of(const CountedRows& rows) { return *rows.state_; }
};

std::span<const CountedTable> CountedCells::Plan(const CountedRows& rows) {
  return rows.state_->plan;
}

std::vector<Counters> CountedCells::Take(CountedRows&& rows) {
  const CountedRows counted = std::move(rows);
  RESIDUA_CHECK(!counted.holds_rows() && counted.state_->slabs.empty());
  std::vector<Counters> counters;
  for (TableCounters& of_table : counted.state_->counters) counters.push_back(of_table.Take());
  return counters;
}

void CountedCells::Put(std::vector<std::vector<uint64_t>> counters, int64_t num_rows,
                       CountedRows* rows) {
  CountedRows::State& state = *rows->state_;
  RESIDUA_CHECK(!state.holds_rows && state.slabs.empty() && state.num_rows == 0 &&
                counters.size() == state.counters.size());
  for (size_t t = 0; t < counters.size(); ++t) {
    RESIDUA_CHECK(std::ssize(counters[t]) == state.plan[t].num_cells);
    state.counters[t] = TableCounters(std::move(counters[t]), num_rows);
  }
  state.num_rows = num_rows;
}

void CountMarginalBatches(CountedRows& rows, const CountingOptions& options,
                          const MarginalsVisitor& visit) {
  auto& state = CountedRowsState::Of(rows);
  const std::vector<AttributeSet>& sets = state.split.whole;
  if (state.holds_rows) {
    CountHeldRows(state.parts, state.domain, sets, state.plan, options, visit);
    return;
  }
  const auto take = [&](const Batch& batch) {
    std::vector<Counters> counters;
    for (size_t t = batch.first; t < batch.last; ++t) counters.push_back(state.counters[t].Take());
    return counters;
  };
  MarginalBatches(state.domain, sets, state.plan, options).Run(sizeof(uint32_t), 0, take, visit);
}

const std::vector<AttributeSet>& InSlabs(const CountedRows& rows) {
  return CountedRowsState::Of(rows).split.in_slabs;
}

std::unique_ptr<TrueSlabs> TakeSlabs(CountedRows& rows, const AttributeSet& set) {
  auto& state = CountedRowsState::Of(rows);
  if (state.holds_rows) return CountSlabs(state.parts, state.domain, set, state.options);
  for (auto& slabs : state.slabs) {
    if (slabs != nullptr && slabs->attributes() == set) return std::move(slabs);
  }
  Fail(ErrorKind::kBroken, "{} was not counted in slabs", SetName(state.domain, set));
}

}  // namespace residua
