#include "residua/measure/counting.h"

#include <limits>

#include "residua/measure/marginal_batches.h"

namespace residua {

void CountMarginalBatches(const EncodedTable& table, const Domain& domain,
                          std::span<const AttributeSet> sets, const CountingOptions& options,
                          const MarginalsVisitor& visit) {
  CheckIsOfDomain(table, domain);
  CountHeldRows(std::span(&table, 1), domain, sets, PlanWithin(domain, sets, options), options,
                visit);
}

void CheckCountable(const Domain& domain, std::span<const AttributeSet> sets, int64_t num_rows,
                    const CountingOptions& options) {
  const size_t counter_bytes =
      num_rows <= std::numeric_limits<uint32_t>::max() ? sizeof(uint32_t) : sizeof(uint64_t);
  CountingOptions least = options;
  least.memory_budget_bytes = 0;
  // Tables are widened only within the budget, so the large tables are the same without.
  for (const CountedTable& counted : PlanWithin(domain, sets, least)) {
    CheckWithinLimit(domain, sets, counted, counter_bytes, options);
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
