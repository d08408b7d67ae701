#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "residua/measure/counted_rows.h"
#include "residua/measure/counting_options.h"
#include "residua/measure/encoded_table.h"
#include "residua/measure/true_marginal.h"
#include "residua/measure/true_slabs.h"
#include "residua/model/domain.h"

namespace residua {

// Counts the marginal of every one of `sets` (any list, such as a closure; each strictly
// increasing) and hands each to `visit` exactly once, a set listed twice included. Only the tables
// of PlanCounting are counted from the rows, every other set is summed from one of those. Tables
// are taken in batches within the memory budget; a batch is counted by all threads and then
// visited, one set after the other, by the calling thread. The order of visits follows from the
// arguments, not from the threads: table by table as planned, a table's sets by decreasing number
// of attributes.
void CountMarginals(const EncodedTable& table, const Domain& domain,
                    std::span<const AttributeSet> sets, const CountingOptions& options,
                    const std::function<void(TrueMarginal&&)>& visit);

// The same, a batch at a time, for visitors that use threads of their own.
void CountMarginalBatches(const EncodedTable& table, const Domain& domain,
                          std::span<const AttributeSet> sets, const CountingOptions& options,
                          const MarginalsVisitor& visit);

// The same for those sets of `rows` that are counted whole, in the same order; their counters are
// used up.
void CountMarginalBatches(CountedRows& rows, const CountingOptions& options,
                          const MarginalsVisitor& visit);

// The counts of a set that is cut into slabs, from rows that are held, in parts, and from those
// that were counted as they came, which gives each set once.
std::unique_ptr<TrueSlabs> CountSlabs(std::span<const EncodedTable> parts, const Domain& domain,
                                      const AttributeSet& set, const CountingOptions& options);
std::unique_ptr<TrueSlabs> TakeSlabs(CountedRows& rows, const AttributeSet& set);
// Those sets, in the order of all.
const std::vector<AttributeSet>& InSlabs(const CountedRows& rows);

// Throws what counting for a measurement would throw, for a table of that many rows, without
// counting anything.
void CheckCountable(const Domain& domain, std::span<const AttributeSet> sets, int64_t num_rows,
                    const CountingOptions& options);

}  // namespace residua
