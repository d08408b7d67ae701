#include <benchmark/benchmark.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <memory>
#include <random>

#include "bench/stages/stage.h"
#include "bench/synthetic_residuals.h"
#include "bench/synthetic_tables.h"
#include "residua/base/threads.h"
#include "residua/reconstruct/loaded_table.h"

namespace residua::bench {
namespace {

constexpr size_t kQueries = 10'000;

struct Asked {
  Residuals residuals;
  std::unique_ptr<ResidualIndex> index;
  std::unique_ptr<LoadedTable> table;
  size_t num_axes = 0;
  std::vector<CellRange> ranges;  // num_axes of them per query
};

std::vector<AttributeSet> AllSubsets(int num_attributes) {
  std::vector<AttributeSet> subsets;
  for (unsigned mask = 0; mask < 1U << num_attributes; ++mask) {
    AttributeSet set;
    for (int i = 0; i < num_attributes; ++i) {
      if ((mask >> i & 1) != 0) set.push_back(i);
    }
    subsets.push_back(set);
  }
  return subsets;
}

std::shared_ptr<const Asked> Ask(int num_axes, int64_t size) {
  auto asked = std::make_shared<Asked>();
  const Domain domain = EqualSizes(num_axes, size);
  const std::vector<ResidualBasis> bases = IdentityBases(domain);
  const std::vector<AttributeSet> sets = AllSubsets(num_axes);
  asked->residuals = MakeResiduals(bases, sets, sets.size());
  asked->index = std::make_unique<ResidualIndex>(domain, bases, asked->residuals.views);
  asked->table = std::make_unique<LoadedTable>(*asked->index, sets.back());
  asked->num_axes = static_cast<size_t>(num_axes);
  std::mt19937_64 random(1);
  for (size_t k = 0; k < kQueries * asked->num_axes; ++k) {
    const auto a = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    const auto b = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
    asked->ranges.push_back({std::min(a, b), std::max(a, b)});
  }
  return asked;
}

template <typename Visit>
void ForEachQuery(const Asked& asked, int num_threads, const Visit& visit) {
  Threads(num_threads).Run([&] {
    tbb::parallel_for(
        tbb::blocked_range<size_t>(0, kQueries, 1000),
        [&](const tbb::blocked_range<size_t>& queries) {
          double sum = 0;
          for (size_t k = queries.begin(); k < queries.end(); ++k) {
            sum += visit(std::span(asked.ranges).subspan(k * asked.num_axes, asked.num_axes));
          }
          benchmark::DoNotOptimize(sum);
        });
  });
}

// The two corners of each range, all combinations of them, read in place.
double SumOfCorners(std::span<const double> counts, int64_t size,
                    std::span<const CellRange> ranges) {
  double sum = 0;
  for (size_t mask = 0; mask < size_t{1} << ranges.size(); ++mask) {
    int64_t at = 0;
    for (size_t k = 0; k < ranges.size(); ++k) {
      at = at * size + ((mask >> k & 1) != 0 ? ranges[k].first : ranges[k].last);
    }
    sum += counts[static_cast<size_t>(at)];
  }
  return sum;
}

// Adding up the cells of the range, rows of the last axis at a time.
double SumOfCells(std::span<const double> counts, int64_t size, std::span<const CellRange> ranges,
                  int64_t base = 0) {
  const CellRange range = ranges.front();
  double sum = 0;
  for (int64_t cell = range.first; cell <= range.last; ++cell) {
    const int64_t at = base * size + cell;
    sum += ranges.size() == 1 ? counts[static_cast<size_t>(at)]
                              : SumOfCells(counts, size, ranges.subspan(1), at);
  }
  return sum;
}

StagePoint PointOf(double x, const std::shared_ptr<const Asked>& asked, int64_t size,
                   int num_threads, bool with_naive) {
  const auto with_sum = [=](const auto& sum_of) {
    return Timed([=] {
      ForEachQuery(*asked, num_threads, [&](std::span<const CellRange> ranges) {
        return sum_of(asked->table->counts(), ranges);
      });
    });
  };
  return {x, Timed([=] {
            ForEachQuery(*asked, num_threads, [&](std::span<const CellRange> ranges) {
              const Estimate estimate = asked->table->AnswerRange(ranges);
              return estimate.value + estimate.variance;
            });
          }),
          with_sum([size](std::span<const double> counts, std::span<const CellRange> ranges) {
            return SumOfCorners(counts, size, ranges);
          }),
          with_naive
              ? with_sum([size](std::span<const double> counts, std::span<const CellRange> ranges) {
                  return SumOfCells(counts, size, ranges);
                })
              : Work()};
}

constexpr const char* kLimit = "reading the corners of each range in the table, no variance";
constexpr const char* kNaive = "adding up the cells of the range, no variance";

Growth Sizes() {
  Growth growth{"query", "size", "10,000 ranges of a loaded table of 3 attributes, one thread",
                kLimit, kNaive};
  for (const int64_t size : {10, 20, 50, 100, 200}) {
    growth.points.push_back(PointOf(static_cast<double>(size), Ask(3, size), size, 1, size <= 50));
  }
  return growth;
}

Growth Axes() {
  Growth growth{"query", "attributes", "10,000 ranges of a loaded table, 8 values each, one thread",
                kLimit, kNaive};
  for (int num_axes = 1; num_axes <= 6; ++num_axes) {
    growth.points.push_back(PointOf(num_axes, Ask(num_axes, 8), 8, 1, true));
  }
  return growth;
}

Growth Threads() {
  Growth growth{"query", "threads", "10,000 ranges of a loaded table of 100 x 100 x 100", kLimit};
  const auto asked = Ask(3, 100);
  for (const int count : ThreadCounts()) {
    growth.points.push_back(PointOf(count, asked, 100, count, false));
  }
  return growth;
}

}  // namespace

std::vector<MakeGrowth> QueryGrowths() { return {Sizes, Axes, Threads}; }

}  // namespace residua::bench
