#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include "residua/data/data_source.h"
#include "residua/measure/remote/partial_counts.h"

namespace residua {

// The job of counting rows that are in parts, for `sets` of the domain. With another key, nobody
// can read what it seals.
CountingJob JobFor(const Domain& domain, std::vector<AttributeSet> sets, std::string plan_digest,
                   const CountingOptions& options, const SealingKey& key);

// The counts of one part, with what became of its rows. With an identifier in `protection`, all
// rows of an identifier must be in one part.
PartialCounts CountPart(const CountingJob& job, int64_t number, const DataSource& source,
                        const Protection& protection, const std::stop_token& stop = {});

// The rows of all parts, from the sums of their counts (OpenSums).
CountedResult CountedParts(const CountingJob& job, std::span<const std::string> sums);

}  // namespace residua
