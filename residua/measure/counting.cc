#include "residua/measure/counting.h"

#include <algorithm>
#include <limits>

#include "residua/base/stop.h"
#include "residua/base/threads.h"
#include "residua/measure/marginal_batches.h"
#include "residua/measure/split_rows.h"

namespace residua {
namespace {

// Whether the sets are so small that no table of them needs a closer look, however they are
// counted: planning takes longer than this for a million sets.
bool FitTogether(const Domain& domain, const SplitSets& split, size_t counter_bytes,
                 const CountingOptions& options) {
  if (!split.in_slabs.empty() || options.num_threads < 0) return false;
  // As CountingBytes, of a table with all sets.
  const auto bytes_per_cell = static_cast<int64_t>(2 * counter_bytes + sizeof(int64_t));
  int64_t cells_left = options.memory_limit_bytes / bytes_per_cell;
  for (const AttributeSet& set : split.whole) {
    cells_left -= std::min(NumCellsInMemory(domain, set), cells_left + 1);
    if (cells_left < 0) return false;
  }
  return true;
}

}  // namespace

void CountMarginalBatches(const EncodedTable& table, const Domain& domain,
                          std::span<const AttributeSet> sets, const CountingOptions& options,
                          const MarginalsVisitor& visit) {
  CheckIsOfDomain(table, domain);
  CountHeldRows(std::span(&table, 1), domain, sets, PlanWithin(domain, sets, options), options,
                visit);
}

void CheckCountable(const Domain& domain, std::span<const AttributeSet> sets, int64_t num_rows,
                    const CountingOptions& options) {
  CheckRowsFit(domain, sets, num_rows);
  const size_t counter_bytes =
      num_rows <= std::numeric_limits<uint32_t>::max() ? sizeof(uint32_t) : sizeof(uint64_t);
  const SplitSets split = SplitBySize(domain, sets, options);
  if (FitTogether(domain, split, counter_bytes, options)) return;
  CountingOptions least = options;
  least.memory_budget_bytes = 0;
  // Tables are widened only within the budget, so the large tables are the same without.
  CheckWithinLimit(domain, split, PlanWithin(domain, split.whole, least), counter_bytes, options);
}

std::unique_ptr<TrueSlabs> CountSlabs(std::span<const EncodedTable> parts, const Domain& domain,
                                      const AttributeSet& set, const CountingOptions& options) {
  auto slabs = std::make_unique<TrueSlabs>(domain, set, *CutIntoSlabs(domain, set, options));
  Threads(options.num_threads).Run([&] {
    ParallelFor(size_t{0}, parts.size(), [&](size_t part) {
      CheckNotStopped(options.stop);
      slabs->Add(parts[part]);
    });
  });
  return slabs;
}

void CountMarginals(const EncodedTable& table, const Domain& domain,
                    std::span<const AttributeSet> sets, const CountingOptions& options,
                    const std::function<void(TrueMarginal&&)>& visit) {
  CountMarginalBatches(table, domain, sets, options, [&](std::vector<TrueMarginal>&& batch) {
    for (TrueMarginal& marginal : batch) visit(std::move(marginal));
  });
}

}  // namespace residua
