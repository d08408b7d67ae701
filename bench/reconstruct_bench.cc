// Reconstruction beside the time to write the same bytes, and queries on a loaded table, on one
// machine in one run: reconstruct_bench

#include <fmt/format.h>
#include <tbb/info.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "bench/limits.h"
#include "bench/stopwatch.h"
#include "bench/synthetic_residuals.h"
#include "bench/synthetic_tables.h"
#include "residua/base/error.h"
#include "residua/reconstruct/axis_sweeps.h"
#include "residua/reconstruct/loaded_table.h"
#include "residua/reconstruct/table_batches.h"

namespace residua::bench {
namespace {

double MedianOfFive(const std::function<void()>& work) {
  return MedianSeconds(work, 5, std::numeric_limits<double>::infinity());
}

void BenchTables(int num_attributes, int64_t size, size_t shared_order, int num_runs,
                 const char* paper_seconds) {
  const Domain domain = EqualSizes(num_attributes, size);
  const std::vector<AttributeSet> tables = SetsUpToThree(num_attributes);
  const std::vector<ResidualBasis> bases = IdentityBases(domain);
  const Residuals residuals = MakeResiduals(bases, tables, shared_order);
  const ResidualIndex index(domain, bases, residuals.views);
  int64_t num_cells = 0;
  int64_t largest = 0;
  for (const AttributeSet& table : tables) {
    num_cells += NumCellsInMemory(domain, table);
    largest = std::max(largest, NumCellsInMemory(domain, table));
  }
  const auto num_bytes = num_cells * static_cast<int64_t>(sizeof(double));
  const int64_t buffer_bytes =
      std::max(kBeyondCaches, largest * static_cast<int64_t>(sizeof(double)));
  std::vector<Times> reconstruct, fill, clear;
  for (int run = 0; run < num_runs; ++run) {
    size_t num_visited = 0;
    reconstruct.push_back(TimesOf([&] {
      ReconstructTables(index, tables, {}, [&](size_t, std::span<const double> counts) {
        num_visited += counts.size();
      });
    }));
    RESIDUA_CHECK(static_cast<int64_t>(num_visited) == num_cells);
    fill.push_back(TimesOf([&] { FillBytes(num_bytes, buffer_bytes); }));
    clear.push_back(TimesOf([&] { ClearBytes(num_bytes, buffer_bytes); }));
  }
  const Times ours = Medians(reconstruct);
  const Times filled = Medians(fill);
  fmt::print(
      "| {}*{} | {} | {:.3g} | {:.3f} | {:.3f} | {:.2f} | {:.3f} | {:.3f} | {:.2f} | {:.3f} | {} | "
      "{:.0f} |\n",
      size, num_attributes, tables.size(), static_cast<double>(num_cells), ours.wall, filled.wall,
      ours.wall / filled.wall, ours.processor, filled.processor, ours.processor / filled.processor,
      Medians(clear).wall, paper_seconds, MegabytesAtPeak());
}

// A table of three attributes of 100 values, loaded once, one thread.
void BenchQueries() {
  const Domain domain = EqualSizes(3, 100);
  const std::vector<AttributeSet> sets = SetsUpToThree(3);
  const std::vector<ResidualBasis> bases = IdentityBases(domain);
  const Residuals residuals = MakeResiduals(bases, sets, 4);
  const ResidualIndex index(domain, bases, residuals.views);
  const LoadedTable table(index, {0, 1, 2});
  std::mt19937_64 random(1);
  double sum = 0;

  std::vector<std::array<CellRange, 3>> ranges(100000);
  for (auto& query : ranges) {
    for (CellRange& range : query) {
      const auto a = static_cast<int64_t>(random() % 100);
      const auto b = static_cast<int64_t>(random() % 100);
      range = {std::min(a, b), std::max(a, b)};
    }
  }
  const double range_seconds = MedianOfFive([&] {
    for (const auto& query : ranges) {
      const Estimate estimate = table.AnswerRange(query);
      sum += estimate.value + estimate.variance;
    }
  });

  // Half of the values of every attribute, no two lists alike.
  std::vector<ProductQuery> lists;
  for (int k = 0; k < 1000; ++k) {
    std::vector<AttributeWeights> factors;
    for (int i = 0; i < 3; ++i) {
      std::vector<CellRange> cells;
      for (int64_t cell = 0; cell < 100; ++cell) {
        if (random() % 2 == 0) cells.push_back({cell, cell});
      }
      factors.push_back({i, cells});
    }
    lists.emplace_back(domain, factors);
  }
  const double list_seconds = MedianOfFive([&] {
    for (const ProductQuery& query : lists) {
      const Estimate estimate = table.Answer(query);
      sum += estimate.value + estimate.variance;
    }
  });
  // Rows of the first two attributes' values are read whole: a quarter of the table for each query.
  const double list_bytes = 1000 * 0.25 * 8e6;
  const double read_seconds = MedianOfFive([&] {
    for (int k = 0; k < 250; ++k) {
      sum += SumOf(table.counts().data(), static_cast<int64_t>(table.counts().size()));
    }
  });
  const double direct_seconds = MedianOfFive([&] {
    for (int k = 0; k < 20; ++k) sum += Answer(index, lists[static_cast<size_t>(k)]).value;
  });
  const double covariance_seconds = MedianOfFive([&] {
    for (size_t k = 1; k < lists.size(); ++k) sum += Covariance(index, lists[k - 1], lists[k]);
  });
  if (sum == 0.5) fmt::print("\n");  // the answers are used

  fmt::print("\nThree attributes of 100 values, loaded once, one thread.\n\n");
  fmt::print("| queries | per second | |\n|---|---|---|\n");
  fmt::print("| ranges, with variance | {:.3g} | goal 100,000 |\n", 1e5 / range_seconds);
  fmt::print(
      "| lists of half the values, with variance | {:.3g} | {:.1f} GB/s of rows; reading the "
      "table and adding it up: {:.1f} GB/s |\n",
      1e3 / list_seconds, list_bytes / list_seconds / 1e9, 250 * 8e6 / read_seconds / 1e9);
  fmt::print("| the same from the residuals, nothing loaded | {:.3g} | |\n", 20 / direct_seconds);
  fmt::print("| covariances of two such | {:.3g} | |\n", 999 / covariance_seconds);
}

void Main() {
  fmt::print("All tables of up to 3 attributes, {} threads.\n\n", tbb::info::default_concurrency());
  fmt::print(
      "| domain | tables | cells | seconds | fill | ratio | processor seconds | fill | ratio | "
      "memset | paper's seconds | peak MB |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  BenchTables(100, 10, 4, 9, "154.5");
  BenchTables(5, 512, 3, 3, "166.0");
  fmt::print(
      "\nseconds: ReconstructTables makes each table once, in a batch buffer (4 MiB, which fits "
      "the "
      "caches; one table of 1 GiB for 512*5), and hands it to a visitor that only counts tables. "
      "fill, memset: the same threads write as many bytes over a buffer of 64 MiB (1 GiB for "
      "512*5), fill with std::fill and a double. All three allocate their buffer for each run. "
      "Figures are medians; the runs take turns. The three-way residuals of 512*5 are one array "
      "under ten names, so that they fit into memory.\n");
  BenchQueries();
}

}  // namespace
}  // namespace residua::bench

int main() { residua::bench::Main(); }
