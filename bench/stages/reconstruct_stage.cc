#include <benchmark/benchmark.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <memory>

#include "bench/limits.h"
#include "bench/stages/stage.h"
#include "bench/synthetic_residuals.h"
#include "bench/synthetic_tables.h"
#include "residua/base/threads.h"
#include "residua/reconstruct/table_batches.h"

namespace residua::bench {
namespace {

struct Released {
  Domain domain;
  std::vector<AttributeSet> tables;
  Residuals residuals;
  std::unique_ptr<ResidualIndex> index;
  int64_t num_bytes = 0;
  int64_t buffer_bytes = kBeyondCaches;
};

std::shared_ptr<const Released> Release(int num_attributes, int64_t size) {
  auto released = std::make_shared<Released>();
  released->domain = EqualSizes(num_attributes, size);
  released->tables = SetsUpToThree(num_attributes);
  const std::vector<ResidualBasis> bases = IdentityBases(released->domain);
  released->residuals = MakeResiduals(bases, released->tables, 4);
  released->index =
      std::make_unique<ResidualIndex>(released->domain, bases, released->residuals.views);
  for (const AttributeSet& table : released->tables) {
    const int64_t bytes =
        NumCellsInMemory(released->domain, table) * static_cast<int64_t>(sizeof(double));
    released->num_bytes += bytes;
    released->buffer_bytes = std::max(released->buffer_bytes, bytes);
  }
  return released;
}

StagePoint PointOf(double x, const std::shared_ptr<const Released>& released, int num_threads) {
  return {x, Timed([=] {
            ReconstructOptions options;
            options.num_threads = num_threads;
            ReconstructTables(*released->index, released->tables, options,
                              [](size_t, std::span<const double> counts) {
                                benchmark::DoNotOptimize(counts.data());
                              });
          }),
          Timed([=] {
            Threads(num_threads).Run([&] {
              FillBytes(released->num_bytes, std::min(released->num_bytes, released->buffer_bytes));
            });
          })};
}

constexpr const char* kLimit = "writing as many doubles over a buffer of 64 MiB";

Growth Attributes() {
  Growth growth{"reconstruct", "attributes", "10 values each, all tables of up to 3", kLimit};
  for (const int count : {5, 10, 20, 50, 100}) {
    growth.points.push_back(
        PointOf(count, Release(count, 10), tbb::this_task_arena::max_concurrency()));
  }
  return growth;
}

Growth Sizes() {
  Growth growth{"reconstruct", "size", "4 attributes, all tables of up to 3", kLimit};
  for (const int64_t size : {5, 10, 20, 50, 100, 200}) {
    growth.points.push_back(PointOf(static_cast<double>(size), Release(4, size),
                                    tbb::this_task_arena::max_concurrency()));
  }
  return growth;
}

Growth Threads() {
  Growth growth{"reconstruct", "threads", "50 attributes of 10 values, all tables of up to 3",
                kLimit};
  const auto released = Release(50, 10);
  for (const int count : ThreadCounts()) growth.points.push_back(PointOf(count, released, count));
  return growth;
}

}  // namespace

std::vector<MakeGrowth> ReconstructGrowths() { return {Attributes, Sizes, Threads}; }

}  // namespace residua::bench
