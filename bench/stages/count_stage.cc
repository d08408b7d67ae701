#include <benchmark/benchmark.h>
#include <tbb/task_arena.h>

#include <memory>
#include <random>

#include "bench/limits.h"
#include "bench/stages/stage.h"
#include "bench/synthetic_residuals.h"
#include "bench/synthetic_tables.h"
#include "residua/base/threads.h"
#include "residua/measure/counting.h"
#include "residua/measure/counting_plan.h"

namespace residua::bench {
namespace {

struct Counted {
  Domain domain;
  EncodedTable table;
  std::vector<AttributeSet> sets;
};

std::shared_ptr<const Counted> MakeCounted(const Domain& domain, int64_t num_rows) {
  return std::make_shared<const Counted>(
      Counted{domain, UniformTable(domain, num_rows), SetsUpToThree(domain.size())});
}

Work Counting(const std::shared_ptr<const Counted>& counted, int num_threads) {
  return Timed([=] {
    const CountingOptions options{.num_threads = num_threads};
    CountMarginals(counted->table, counted->domain, counted->sets, options,
                   [](TrueMarginal&& marginal) { benchmark::DoNotOptimize(marginal); });
  });
}

// As many increments as there are rows, for each addition that a row takes, and the clearing of the
// cells of the tables that are counted from the rows; all other sets come from these by addition.
Work Incrementing(const std::shared_ptr<const Counted>& counted, int num_threads) {
  constexpr int64_t kMaxCells = 1 << 16;
  const int64_t num_rows = counted->table.num_rows();
  const std::vector<CountedTable> tables =
      PlanCounting(counted->domain, counted->sets, kMaxCells - 1);
  auto indices = std::make_shared<std::vector<uint16_t>>(static_cast<size_t>(num_rows));
  std::mt19937_64 random(1);
  for (uint16_t& index : *indices) index = static_cast<uint16_t>(random());
  const auto additions = static_cast<size_t>(AdditionsPerRow(counted->domain, tables));
  return Timed([=] {
    Threads(num_threads).Run([&] {
      ParallelFor(size_t{0}, additions, [&](size_t) {
        std::vector<uint32_t> counters(kMaxCells);
        CountIndices(*indices, counters);
      });
      ParallelFor(size_t{0}, tables.size(), [&](size_t t) {
        std::vector<int64_t> cells(static_cast<size_t>(tables[t].num_cells));
        benchmark::DoNotOptimize(cells.data());
      });
    });
  });
}

Work CountingSetBySet(const std::shared_ptr<const Counted>& counted) {
  return Timed([=] {
    for (const AttributeSet& set : counted->sets) {
      std::vector<int64_t> cells(static_cast<size_t>(NumCellsInMemory(counted->domain, set)));
      for (int64_t row = 0; row < counted->table.num_rows(); ++row) {
        int64_t cell = 0;
        for (const int i : set) {
          cell = cell * counted->domain[i].size +
                 std::get<std::vector<uint8_t>>(counted->table.column(i))[static_cast<size_t>(row)];
        }
        ++cells[static_cast<size_t>(cell)];
      }
      benchmark::DoNotOptimize(cells.data());
    }
  });
}

constexpr const char* kLimit =
    "one increment per row and addition that we do, with cell numbers given in 16 bits, and "
    "clearing the tables";
constexpr const char* kNaive = "every set by itself, row by row, one thread";

StagePoint PointOf(double x, const std::shared_ptr<const Counted>& counted, int num_threads,
                   bool with_naive) {
  return {x, Counting(counted, num_threads), Incrementing(counted, num_threads),
          with_naive ? CountingSetBySet(counted) : Work()};
}

Growth Rows() {
  Growth growth{"count", "rows", "the 14 attributes of Adult, all 470 sets of up to 3", kLimit,
                kNaive};
  for (const int64_t num_rows : {10'000, 100'000, 1'000'000, 10'000'000}) {
    growth.points.push_back(PointOf(static_cast<double>(num_rows),
                                    MakeCounted(AdultDomain(), num_rows),
                                    tbb::this_task_arena::max_concurrency(), num_rows <= 100'000));
  }
  return growth;
}

Growth Attributes() {
  Growth growth{"count", "attributes", "10 values each, a million rows, all sets of up to 3",
                kLimit, kNaive};
  for (const int count : {3, 5, 10, 20, 40}) {
    growth.points.push_back(PointOf(count, MakeCounted(EqualSizes(count, 10), 1'000'000),
                                    tbb::this_task_arena::max_concurrency(), count <= 10));
  }
  return growth;
}

Growth Sizes() {
  Growth growth{"count", "size", "6 attributes, a million rows, all sets of up to 3", kLimit,
                kNaive};
  for (const int64_t size : {2, 5, 10, 20, 40, 100, 200}) {
    growth.points.push_back(PointOf(static_cast<double>(size),
                                    MakeCounted(EqualSizes(6, size), 1'000'000),
                                    tbb::this_task_arena::max_concurrency(), true));
  }
  return growth;
}

Growth Threads() {
  Growth growth{"count", "threads", "Adult, a million rows, all sets of up to 3", kLimit};
  const auto counted = MakeCounted(AdultDomain(), 1'000'000);
  for (const int count : ThreadCounts()) {
    growth.points.push_back(PointOf(count, counted, count, false));
  }
  return growth;
}

}  // namespace

std::vector<MakeGrowth> CountGrowths() { return {Rows, Attributes, Sizes, Threads}; }

}  // namespace residua::bench
