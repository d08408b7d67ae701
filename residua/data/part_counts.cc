#include "residua/data/part_counts.h"

#include <utility>
#include <vector>

#include "residua/base/error.h"

namespace residua {
namespace {

constexpr int64_t kTalliesOfRows = 4;
constexpr int64_t kTalliesOfAttribute = 4;

int64_t NumTallies(const Domain& domain) {
  return kTalliesOfRows + kTalliesOfAttribute * domain.size();
}

// Calls `visit` with each number of the report that parts have a share in.
template <typename Report, typename Visit>
void ForEachTally(Report& report, const Visit& visit) {
  visit(report.num_rows_read);
  visit(report.num_rows_dropped);
  visit(report.num_rows_without_identifier);
  visit(report.num_rows_over);
  for (auto& attribute : report.attributes) {
    visit(attribute.num_dropped);
    visit(attribute.num_clamped);
    visit(attribute.num_nulled);
    visit(attribute.num_missing);
  }
}

}  // namespace

CountingJob JobFor(const Domain& domain, std::vector<AttributeSet> sets, std::string plan_digest,
                   const CountingOptions& options, const SealingKey& key) {
  return {domain, std::move(sets), options, std::move(plan_digest), NumTallies(domain), key};
}

PartialCounts CountPart(const CountingJob& job, int64_t number, const DataSource& source,
                        const Protection& protection, const std::stop_token& stop) {
  CheckCountsElsewhere(job);
  CountingOptions options = job.options;
  options.stop = stop;
  const DataPart part{number, DerivedKey(job.key, "rows of identifiers")};
  CountedResult counted = ReadCountedPart(source, part, job.domain, protection, job.sets, options);
  std::vector<int64_t> tallies;
  ForEachTally(counted.report, [&](int64_t tally) { tallies.push_back(tally); });
  return PartialCounts(job, number, std::move(counted.rows), tallies);
}

CountedResult CountedParts(const CountingJob& job, std::span<const std::string> sums) {
  SummedCounts summed = OpenSums(job, sums);
  ReadReport report;
  report.attributes.resize(static_cast<size_t>(job.domain.size()));
  size_t next = 0;
  ForEachTally(report, [&](int64_t& tally) { tally = summed.tallies[next++]; });
  RESIDUA_CHECK(next == summed.tallies.size());
  return {std::move(summed.rows), std::move(report)};
}

}  // namespace residua
