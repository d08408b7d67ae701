#include "residua/measure/counting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "residua/base/checked.h"
#include "residua/base/error.h"
#include "residua/base/stop.h"
#include "residua/base/threads.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/row_counter.h"
#include "residua/measure/sum_down.h"
#include "residua/measure/true_counts.h"

namespace residua {
namespace {

// Tables [first, last) of the plan, each counted over `num_shards` parts of the rows.
struct Batch {
  size_t first = 0;
  size_t last = 0;
  int num_shards = 1;
};

// The counters of one shard, the intermediate sums, which have at least one attribute of two or
// more cells less, and the finished marginals.
int64_t CountingBytes(const Domain& domain, std::span<const AttributeSet> sets,
                      const CountedTable& counted, size_t counter_bytes) {
  int64_t bytes = CheckedMultiply(counted.num_cells, 2 * static_cast<int64_t>(counter_bytes));
  for (const int k : counted.sets) {
    const int64_t cells = NumCellsInMemory(domain, sets[static_cast<size_t>(k)]);
    bytes = CheckedAdd(bytes, CheckedMultiply(cells, sizeof(int64_t)));
  }
  return bytes;
}

void CheckWithinLimit(const Domain& domain, const CountedTable& counted, int64_t bytes,
                      const CountingOptions& options) {
  if (bytes <= options.memory_limit_bytes) return;
  Fail(ErrorKind::kTooLarge,
       "counting {} takes {:.1f} GiB of memory, and {:.1f} may be used; ask for fewer attributes "
       "together",
       SetName(domain, counted.attributes), std::ldexp(static_cast<double>(bytes), -30),
       std::ldexp(static_cast<double>(options.memory_limit_bytes), -30));
}

void CheckArguments(const CountingOptions& options) {
  if (options.num_threads < 0) {
    Fail(ErrorKind::kBadInput, "{} threads; give 1 or more, or 0 for one per processor",
         options.num_threads);
  }
}

// Counts the tables of a plan. `Counter` holds any number up to the number of rows, so neither
// counters nor sums of them can wrap: no cell of any marginal exceeds the number of rows.
template <typename Counter>
class BatchCounter {
 public:
  BatchCounter(const EncodedTable& table, const Domain& domain, std::span<const AttributeSet> sets,
               const CountingOptions& options)
      : table_(table),
        domain_(domain),
        sets_(sets),
        plan_(PlanCounting(domain, sets, table.num_rows(),
                           options.memory_budget_bytes / kBytesPerWidenedCell)),
        threads_(options.num_threads),
        options_(options),
        budget_(options.memory_budget_bytes) {}

  void Run(const std::function<void(std::vector<TrueMarginal>&&)>& visit) {
    for (Batch batch = NextBatch(0); batch.first < plan_.size(); batch = NextBatch(batch.last)) {
      visit(Count(batch));
    }
  }

 private:
  Batch NextBatch(size_t first) const {
    Batch batch{first, first, 1};
    int64_t bytes = 0;
    int64_t shard_bytes = 0;
    while (batch.last < plan_.size()) {
      const CountedTable& counted = plan_[batch.last];
      const int64_t more = CountingBytes(domain_, sets_, counted, sizeof(Counter));
      CheckWithinLimit(domain_, counted, more, options_);
      if (more > budget_ - bytes && batch.last > first) break;
      bytes += more;
      shard_bytes += counted.num_cells * int64_t{sizeof(Counter)};
      ++batch.last;
    }
    // There are fewer tables than threads: split the rows too, if there is memory for it.
    const auto num_tables = static_cast<int64_t>(batch.last - batch.first);
    const int64_t wanted_tasks = 4 * int64_t{threads_.count()};
    if (num_tables > 0 && num_tables < wanted_tasks && table_.num_rows() >= kMinShardedRows) {
      const int64_t affordable =
          1 + std::max<int64_t>(budget_ - bytes, 0) / std::max<int64_t>(shard_bytes, 1);
      batch.num_shards = static_cast<int>(
          std::min({wanted_tasks / num_tables, affordable, int64_t{threads_.count()}}));
    }
    return batch;
  }

  std::vector<TrueMarginal> Count(const Batch& batch) {
    const size_t num_tables = batch.last - batch.first;
    const auto num_shards = static_cast<size_t>(std::max(batch.num_shards, 1));
    std::vector<std::vector<std::vector<int64_t>>> cells(num_tables);
    threads_.Run([&] {
      if (num_shards == 1) {
        ParallelFor(size_t{0}, num_tables, [&](size_t t) {
          const CountedTable& counted = plan_[batch.first + t];
          cells[t] = SumDown(domain_, counted, sets_, CountShard(counted, 0, 1));
        });
        return;
      }
      std::vector<std::vector<Counter>> counters(num_tables * num_shards);
      ParallelFor(size_t{0}, counters.size(), [&](size_t task) {
        counters[task] =
            CountShard(plan_[batch.first + task / num_shards], task % num_shards, num_shards);
      });
      ParallelFor(size_t{0}, num_tables, [&](size_t t) {
        std::vector<Counter>& total = counters[t * num_shards];
        for (size_t shard = 1; shard < num_shards; ++shard) {
          std::vector<Counter>& part = counters[t * num_shards + shard];
          for (size_t c = 0; c < total.size(); ++c) total[c] += part[c];
          part = {};
        }
        cells[t] = SumDown(domain_, plan_[batch.first + t], sets_, std::move(total));
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

  std::vector<Counter> CountShard(const CountedTable& counted, size_t shard,
                                  size_t num_shards) const {
    const auto boundary = [&](size_t k) {
      return table_.num_rows() / static_cast<int64_t>(num_shards) * static_cast<int64_t>(k) +
             (k == num_shards ? table_.num_rows() % static_cast<int64_t>(num_shards) : 0);
    };
    CheckNotStopped(options_.stop);
    std::vector<Counter> counters(static_cast<size_t>(counted.num_cells), 0);
    CountRows(table_, counted.attributes, boundary(shard), boundary(shard + 1), counters);
    return counters;
  }

  // What CountingBytes is at most, per cell of a table of up to 12 attributes: its subsets have
  // prod (n_i + 1) / n_i <= (3/2)^12 < 130 times its cells.
  static constexpr int64_t kBytesPerWidenedCell = 2 * sizeof(Counter) + 130 * sizeof(int64_t);

  // With fewer rows, a second set of counters does not pay.
  static constexpr int64_t kMinShardedRows = int64_t{1} << 16;

  const EncodedTable& table_;
  const Domain& domain_;
  std::span<const AttributeSet> sets_;
  std::vector<CountedTable> plan_;
  Threads threads_;
  CountingOptions options_;
  int64_t budget_;
};

}  // namespace

void CountMarginalBatches(const EncodedTable& table, const Domain& domain,
                          std::span<const AttributeSet> sets, const CountingOptions& options,
                          const std::function<void(std::vector<TrueMarginal>&&)>& visit) {
  std::vector<int64_t> sizes;
  for (const Attribute& attribute : domain.attributes()) sizes.push_back(attribute.size);
  if (sizes != table.sizes()) {
    Fail(ErrorKind::kBadInput, "the table was encoded for another domain than the one to count");
  }
  CheckArguments(options);
  if (table.num_rows() <= std::numeric_limits<uint32_t>::max()) {
    BatchCounter<uint32_t>(table, domain, sets, options).Run(visit);
  } else {
    BatchCounter<uint64_t>(table, domain, sets, options).Run(visit);
  }
}

void CheckCountable(const Domain& domain, std::span<const AttributeSet> sets, int64_t num_rows,
                    const CountingOptions& options) {
  CheckArguments(options);
  const size_t counter_bytes =
      num_rows <= std::numeric_limits<uint32_t>::max() ? sizeof(uint32_t) : sizeof(uint64_t);
  // Tables are widened only within the budget, so the large tables are the same as for no rows.
  for (const CountedTable& counted : PlanCounting(domain, sets, 0, 0)) {
    CheckWithinLimit(domain, counted, CountingBytes(domain, sets, counted, counter_bytes), options);
  }
}

void CountMarginals(const EncodedTable& table, const Domain& domain,
                    std::span<const AttributeSet> sets, const CountingOptions& options,
                    const std::function<void(TrueMarginal&&)>& visit) {
  CountMarginalBatches(table, domain, sets, options, [&](std::vector<TrueMarginal>&& batch) {
    for (TrueMarginal& marginal : batch) visit(std::move(marginal));
  });
}

}  // namespace residua
