#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "residua/base/threads.h"
#include "residua/measure/counted_rows.h"
#include "residua/measure/counting_options.h"
#include "residua/measure/counting_plan.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/slab_cut.h"
#include "residua/measure/table_counters.h"
#include "residua/measure/true_marginal.h"
#include "residua/model/domain.h"

namespace residua {

// PlanCounting within the memory budget. Error{kBadInput} for options that make no sense.
std::vector<CountedTable> PlanWithin(const Domain& domain, std::span<const AttributeSet> sets,
                                     const CountingOptions& options);

// Error{kTooLarge} if counting one of the tables takes more than the memory limit, with counters of
// that many bytes each: those of the plan for the sets that are counted whole, and those in slabs.
void CheckWithinLimit(const Domain& domain, const SplitSets& split,
                      std::span<const CountedTable> plan, size_t counter_bytes,
                      const CountingOptions& options);

void CheckIsOfDomain(const EncodedTable& table, const Domain& domain);

// Tables [first, last) of the plan, each counted over `num_shards` parts of the rows.
struct Batch {
  size_t first = 0;
  size_t last = 0;
  int num_shards = 1;
};

// Passes on the marginals of a plan's tables, a batch of tables at a time. What it refers to must
// outlive it.
class MarginalBatches {
 public:
  MarginalBatches(const Domain& domain, std::span<const AttributeSet> sets,
                  std::span<const CountedTable> plan, const CountingOptions& options);

  // `count` gives the counters of a batch's tables, which have `counter_bytes` each; it is called
  // within the threads. With `num_held_rows` rows or none to split, it may be asked for shards.
  void Run(size_t counter_bytes, int64_t num_held_rows,
           const std::function<std::vector<Counters>(const Batch&)>& count,
           const MarginalsVisitor& visit);

 private:
  Batch NextBatch(size_t first, size_t counter_bytes, int64_t num_held_rows) const;
  std::vector<TrueMarginal> MarginalsOf(
      const Batch& batch, const std::function<std::vector<Counters>(const Batch&)>& count);

  const Domain& domain_;
  std::span<const AttributeSet> sets_;
  std::span<const CountedTable> plan_;
  Threads threads_;
  const CountingOptions& options_;
};

// The marginals of rows that are held, in parts.
void CountHeldRows(std::span<const EncodedTable> parts, const Domain& domain,
                   std::span<const AttributeSet> sets, std::span<const CountedTable> plan,
                   const CountingOptions& options, const MarginalsVisitor& visit);

}  // namespace residua
