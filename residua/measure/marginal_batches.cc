#include "residua/measure/marginal_batches.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/measure/row_counter.h"
#include "residua/measure/sliced/counting_units.h"
#include "residua/measure/sliced/sliced_tables.h"
#include "residua/measure/split_rows.h"
#include "residua/measure/sum_down.h"
#include "residua/measure/true_counts.h"

namespace residua {
namespace {

// What CountingBytes is at most, per cell of a table of up to 12 attributes: its subsets have
// prod (n_i + 1) / n_i <= (3/2)^12 < 130 times its cells.
constexpr int64_t kBytesPerWidenedCell = 2 * sizeof(uint64_t) + 130 * sizeof(int64_t);

// With fewer rows, a second set of counters does not pay.
constexpr int64_t kMinShardedRows = int64_t{1} << 16;

// The counters of one shard, the intermediate sums, which have at least one attribute of two or
// more cells less, and the finished marginals.
int64_t CountingBytes(const Domain& domain, std::span<const AttributeSet> sets,
                      const CountedTable& counted, size_t counter_bytes) {
  // Sums of numbers soon need all bits.
  if (MeanAttribute(domain, counted.attributes) >= 0) counter_bytes = sizeof(uint64_t);
  int64_t bytes = CheckedMultiply(counted.num_cells, 2 * static_cast<int64_t>(counter_bytes));
  for (const int k : counted.sets) {
    const int64_t cells = NumCellsInMemory(domain, sets[static_cast<size_t>(k)]);
    bytes = CheckedAdd(bytes, CheckedMultiply(cells, sizeof(int64_t)));
  }
  return bytes;
}

// Tables that are counted together have the same slice attribute and follow each other.
int64_t NumUnits(std::span<const CountedTable> tables) {
  int64_t num_units = 0;
  for (size_t t = 0; t < tables.size(); ++t) {
    if (t == 0 || tables[t].slice < 0 || tables[t].slice != tables[t - 1].slice) ++num_units;
  }
  return num_units;
}

void CheckBytes(const Domain& domain, const AttributeSet& set, int64_t bytes,
                const CountingOptions& options) {
  if (bytes <= options.memory_limit_bytes) return;
  Fail(ErrorKind::kTooLarge,
       "counting {} takes {:.1f} GiB of memory, and {:.1f} may be used; ask for fewer attributes "
       "together",
       SetName(domain, set), std::ldexp(static_cast<double>(bytes), -30),
       std::ldexp(static_cast<double>(options.memory_limit_bytes), -30));
}

void CheckArguments(const CountingOptions& options) {
  if (options.num_threads < 0) {
    Fail(ErrorKind::kBadInput, "{} threads; give 1 or more, or 0 for one per processor",
         options.num_threads);
  }
}

// Counts the tables of a plan over rows that are held in parts. `Counter` holds any number up to
// what all rows add, so neither counters nor sums of them can wrap: no cell of any marginal exceeds
// that.
template <typename Counter>
class HeldRowsCounter {
 public:
  HeldRowsCounter(std::span<const EncodedTable> parts, int64_t num_rows, const Domain& domain,
                  std::span<const CountedTable> plan, const std::stop_token& stop)
      : parts_(parts), num_rows_(num_rows), domain_(domain), plan_(plan), stop_(stop) {}

  std::vector<Counters> Count(const Batch& batch) const {
    const size_t num_tables = batch.last - batch.first;
    const auto num_shards = static_cast<size_t>(batch.num_shards);
    std::vector<std::vector<Counter>> shards(num_tables * num_shards);
    const std::span<const CountedTable> tables = plan_.subspan(batch.first, num_tables);
    const std::vector<CountingUnit> units = UnitsOf(domain_, tables);
    ParallelFor(size_t{0}, units.size() * num_shards, [&](size_t task) {
      const CountingUnit& unit = units[task / num_shards];
      const size_t shard = task % num_shards;
      std::vector<Counter*> first_cells;
      for (size_t t = unit.first; t < unit.last; ++t) {
        std::vector<Counter>& counters = shards[t * num_shards + shard];
        counters.assign(static_cast<size_t>(tables[t].num_cells), 0);
        first_cells.push_back(counters.data());
      }
      ForEachPart(shard, num_shards, [&](const EncodedTable& part, int64_t begin, int64_t end) {
        if (unit.slices) {
          CountSliced<Counter>(*unit.slices, part, begin, end, first_cells);
        } else {
          CountRows(part, tables[unit.first].attributes, begin, end,
                    shards[unit.first * num_shards + shard]);
        }
      });
    });
    std::vector<Counters> counters(num_tables);
    ParallelFor(size_t{0}, num_tables, [&](size_t t) {
      std::vector<Counter>& total = shards[t * num_shards];
      for (size_t shard = 1; shard < num_shards; ++shard) {
        std::vector<Counter>& part = shards[t * num_shards + shard];
        for (size_t c = 0; c < total.size(); ++c) total[c] += part[c];
        part = {};
      }
      counters[t] = std::move(total);
    });
    return counters;
  }

 private:
  // Visits the rows of a shard: of each part, those from `begin` to `end`.
  template <typename Visit>
  void ForEachPart(size_t shard, size_t num_shards, const Visit& visit) const {
    const auto boundary = [&](size_t k) {
      return num_rows_ / static_cast<int64_t>(num_shards) * static_cast<int64_t>(k) +
             (k == num_shards ? num_rows_ % static_cast<int64_t>(num_shards) : 0);
    };
    int64_t before = 0;
    for (const EncodedTable& part : parts_) {
      CheckNotStopped(stop_);
      const int64_t begin = std::max<int64_t>(boundary(shard) - before, 0);
      const int64_t end = std::min(boundary(shard + 1) - before, part.num_rows());
      if (begin < end) visit(part, begin, end);
      before += part.num_rows();
    }
  }

  std::span<const EncodedTable> parts_;
  int64_t num_rows_;
  const Domain& domain_;
  std::span<const CountedTable> plan_;
  const std::stop_token& stop_;
};

template <typename Counter>
void CountHeldRows(std::span<const EncodedTable> parts, int64_t num_rows, const Domain& domain,
                   std::span<const AttributeSet> sets, std::span<const CountedTable> plan,
                   const CountingOptions& options, const MarginalsVisitor& visit) {
  const HeldRowsCounter<Counter> counter(parts, num_rows, domain, plan, options.stop);
  MarginalBatches(domain, sets, plan, options)
      .Run(
          sizeof(Counter), num_rows, [&](const Batch& batch) { return counter.Count(batch); },
          visit);
}

}  // namespace

std::vector<CountedTable> PlanWithin(const Domain& domain, std::span<const AttributeSet> sets,
                                     const CountingOptions& options) {
  CheckArguments(options);
  return PlanCounting(domain, sets, options.memory_budget_bytes / kBytesPerWidenedCell);
}

void CheckWithinLimit(const Domain& domain, const SplitSets& split,
                      std::span<const CountedTable> plan, size_t counter_bytes,
                      const CountingOptions& options) {
  for (const CountedTable& counted : plan) {
    CheckBytes(domain, counted.attributes,
               CountingBytes(domain, split.whole, counted, counter_bytes), options);
  }
  const int num_threads = Threads(options.num_threads).count();
  for (const AttributeSet& set : split.in_slabs) {
    const SlabCut cut = *CutIntoSlabs(domain, set, options);
    CheckBytes(domain, set, CheckedAdd(SlabCountBytes(cut), SlabWorkBytes(cut, num_threads)),
               options);
  }
}

void CheckIsOfDomain(const EncodedTable& table, const Domain& domain) {
  if (!table.IsOf(domain)) {
    Fail(ErrorKind::kBadInput, "the table was encoded for another domain than the one to count");
  }
}

MarginalBatches::MarginalBatches(const Domain& domain, std::span<const AttributeSet> sets,
                                 std::span<const CountedTable> plan, const CountingOptions& options)
    : domain_(domain), sets_(sets), plan_(plan), threads_(options.num_threads), options_(options) {}

void MarginalBatches::Run(size_t counter_bytes, int64_t num_held_rows,
                          const std::function<std::vector<Counters>(const Batch&)>& count,
                          const MarginalsVisitor& visit) {
  for (size_t first = 0; first < plan_.size();) {
    const Batch batch = NextBatch(first, counter_bytes, num_held_rows);
    visit(MarginalsOf(batch, count));
    first = batch.last;
  }
}

Batch MarginalBatches::NextBatch(size_t first, size_t counter_bytes, int64_t num_held_rows) const {
  Batch batch{first, first, 1};
  int64_t bytes = 0;
  int64_t shard_bytes = 0;
  while (batch.last < plan_.size()) {
    const CountedTable& counted = plan_[batch.last];
    const int64_t more = CountingBytes(domain_, sets_, counted, counter_bytes);
    CheckBytes(domain_, counted.attributes, more, options_);
    if (more > options_.memory_budget_bytes - bytes && batch.last > first) break;
    bytes += more;
    shard_bytes += counted.num_cells * static_cast<int64_t>(counter_bytes);
    ++batch.last;
  }
  // There are fewer tables than threads: split the rows too, if there is memory for it.
  const std::span<const CountedTable> tables = plan_.subspan(first, batch.last - first);
  const int64_t num_units = NumUnits(tables);
  const int64_t wanted_tasks = 4 * int64_t{threads_.count()};
  if (num_units < wanted_tasks && num_held_rows >= kMinShardedRows) {
    const int64_t left = std::max<int64_t>(options_.memory_budget_bytes - bytes, 0);
    const int64_t affordable = 1 + left / std::max<int64_t>(shard_bytes, 1);
    batch.num_shards = static_cast<int>(
        std::min({wanted_tasks / num_units, affordable, int64_t{threads_.count()}}));
  }
  return batch;
}

std::vector<TrueMarginal> MarginalBatches::MarginalsOf(
    const Batch& batch, const std::function<std::vector<Counters>(const Batch&)>& count) {
  const size_t num_tables = batch.last - batch.first;
  std::vector<std::vector<std::vector<int64_t>>> cells(num_tables);
  threads_.Run([&] {
    std::vector<Counters> counters = count(batch);
    ParallelFor(size_t{0}, num_tables, [&](size_t t) {
      CheckNotStopped(options_.stop);
      cells[t] = std::visit(
          [&](auto&& of_table) {
            return SumDown(domain_, plan_[batch.first + t], sets_, std::move(of_table));
          },
          std::move(counters[t]));
    });
  });
  std::vector<TrueMarginal> marginals;
  for (size_t t = 0; t < num_tables; ++t) {
    const std::vector<int>& requested = plan_[batch.first + t].sets;
    for (size_t s = 0; s < requested.size(); ++s) {
      marginals.push_back(
          TrueCounts::Marginal(sets_[static_cast<size_t>(requested[s])], std::move(cells[t][s])));
    }
  }
  return marginals;
}

void CountHeldRows(std::span<const EncodedTable> parts, const Domain& domain,
                   std::span<const AttributeSet> sets, std::span<const CountedTable> plan,
                   const CountingOptions& options, const MarginalsVisitor& visit) {
  int64_t num_rows = 0;
  for (const EncodedTable& part : parts) num_rows = CheckedAdd(num_rows, part.num_rows());
  CheckRowsFit(domain, sets, num_rows);
  if (num_rows <= std::numeric_limits<uint32_t>::max() / MostRowSteps(domain, sets)) {
    CountHeldRows<uint32_t>(parts, num_rows, domain, sets, plan, options, visit);
  } else {
    CountHeldRows<uint64_t>(parts, num_rows, domain, sets, plan, options, visit);
  }
}

}  // namespace residua
