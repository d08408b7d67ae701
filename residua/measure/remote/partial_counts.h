#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "residua/measure/counted_rows.h"
#include "residua/measure/remote/sealed_bytes.h"
#include "residua/measure/table_counters.h"

namespace residua {

// What everybody who counts a part of the rows for one measurement agrees on. Which tables are
// counted follows from `domain`, `sets` and `options.memory_budget_bytes`.
struct CountingJob {
  const Domain& domain;  // outlives the job
  std::vector<AttributeSet> sets;
  CountingOptions options;
  std::string plan_digest;
  int64_t num_tallies = 0;  // numbers that are added up beside the counts
  SealingKey key;           // drawn for this measurement
};

// What counting one part takes at most: `task_bytes` of memory where it is counted, `sealed_bytes`
// on its way from there. Both follow from the plan alone.
struct CountingJobSize {
  int64_t num_cells = 0;
  int64_t num_pieces = 0;
  int64_t task_bytes = 0;
  int64_t sealed_bytes = 0;
};
CountingJobSize SizeOf(const CountingJob& job);

// Error{kTooLarge} if the counters of all tables do not fit the memory budget of the job: rows that
// are elsewhere are counted as they come, and never held.
void CheckCountsElsewhere(const CountingJob& job);

// The true counts of the rows of one partition. What it holds must never be published: it leaves
// only in sealed pieces (sealed_bytes.h), each bound to the plan, the partition and its own number,
// and of a size that follows from the plan alone. Every piece also holds a fingerprint of all
// counts of the partition, so that pieces of two runs over different rows are never mixed.
class PartialCounts {
 public:
  // `rows` are of the job's domain, sets and options, and not held. No tally is negative.
  PartialCounts(const CountingJob& job, int64_t partition, CountedRows&& rows,
                std::span<const int64_t> tallies);
  PartialCounts(PartialCounts&&) = default;
  PartialCounts& operator=(PartialCounts&&) = delete;

  int64_t num_pieces() const { return num_pieces_; }
  std::string Piece(int64_t piece) const;

 private:
  std::string Plain(int64_t piece) const;

  const CountingJob* job_;
  int64_t partition_;
  std::vector<uint64_t> header_;  // the number of rows, and the tallies
  std::vector<Counters> counters_;
  int64_t num_pieces_ = 0;
  Fingerprint fingerprint_ = {};
};

// Sums of pieces of different partitions. True counts too, and closed in the same way. A sum that
// does not fit 64 bits is Error{kTooLarge}.
class PartialSums {
 public:
  explicit PartialSums(const CountingJob& job);

  // Error{kRefused} for what is not a piece of the job, and for a piece of a partition that was
  // added before.
  void Add(std::string_view piece);
  // The numbers of the pieces that were added.
  std::vector<int64_t> Pieces() const;
  std::string Piece(int64_t piece) const;

 private:
  struct Sum {
    std::vector<uint64_t> cells;
    Fingerprint fingerprint = {};  // of all partitions: exclusive or
    std::set<int64_t> partitions;
  };

  const CountingJob* job_;
  std::map<int64_t, Sum> sums_;
};

struct SummedCounts {
  CountedRows rows;
  std::vector<int64_t> tallies;
};

// All rows, from the pieces of PartialSums: every piece once, in any order; no piece at all means
// no rows. Error{kRefused} for anything else: for pieces that were changed, are missing or come
// twice, that were not added up from the same partitions, or whose tables do not have the same
// number of rows.
SummedCounts OpenSums(const CountingJob& job, std::span<const std::string> pieces);

// A text about a partition, such as why it was refused, sealed like its counts.
std::string SealText(const CountingJob& job, std::string_view text);
std::string UnsealText(const CountingJob& job, std::string_view sealed);

}  // namespace residua
