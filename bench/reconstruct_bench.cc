// Reconstruction beside the time to write the same bytes, and queries on a loaded table, on one
// machine in one run: reconstruct_bench

#include <fmt/format.h>
#include <sys/resource.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "residua/reconstruct/scratch_buffer.h"
#include "residua/reconstruct/table_reconstruction.h"

namespace residua {
namespace {

double MegabytesAtPeak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Domain EqualSizes(int count, int64_t size) {
  std::vector<Attribute> attributes(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    attributes[static_cast<size_t>(i)].name = fmt::format("a{}", i);
    attributes[static_cast<size_t>(i)].size = size;
  }
  return Domain(attributes);
}

std::vector<AttributeSet> SetsUpToThree(int count) {
  std::vector<AttributeSet> sets = {{}};
  for (int a = 0; a < count; ++a) sets.push_back({a});
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) sets.push_back({a, b});
  }
  for (int a = 0; a < count; ++a) {
    for (int b = a + 1; b < count; ++b) {
      for (int c = b + 1; c < count; ++c) sets.push_back({a, b, c});
    }
  }
  return sets;
}

// Residuals of any value: the time does not depend on them. Sets of `shared_order` attributes share
// one, so that those of large tables fit the memory; it is far larger than the caches.
struct Residuals {
  std::vector<std::vector<int64_t>> values;
  std::vector<ResidualView> views;
};

Residuals MakeResiduals(const Domain& domain, const std::vector<AttributeSet>& sets,
                        size_t shared_order) {
  Residuals residuals;
  residuals.values.reserve(sets.size());
  uint64_t state = 1;
  const std::vector<int64_t>* shared = nullptr;
  for (const AttributeSet& set : sets) {
    const std::vector<int64_t>* values = set.size() == shared_order ? shared : nullptr;
    if (values == nullptr) {
      residuals.values.emplace_back(static_cast<size_t>(NumCellsInMemory(domain, set)));
      for (int64_t& value : residuals.values.back()) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        value = static_cast<int64_t>(state) >> 30;
      }
      values = &residuals.values.back();
      if (set.size() == shared_order) shared = values;
    }
    residuals.views.push_back({set, std::span(*values), 1000});
  }
  return residuals;
}

ResidualIndex MakeIndex(const Domain& domain, const Residuals& residuals) {
  std::vector<ResidualBasis> bases;
  for (const Attribute& attribute : domain.attributes()) {
    bases.push_back(IdentityBasis(attribute.size));
  }
  return ResidualIndex(domain, std::move(bases), residuals.views);
}

// Writes `num_bytes` over and over a new buffer of `buffer_bytes`, a stripe a task. Reconstruction
// makes its own of the same size and in the same way.
template <typename Write>
double WriteSeconds(int64_t num_bytes, int64_t buffer_bytes, const Write& write) {
  const size_t stripe = size_t{1} << 17;
  return Seconds([&] {
    ScratchBuffer buffer;
    buffer.Resize(buffer_bytes / static_cast<int64_t>(sizeof(double)));
    for (int64_t left = num_bytes; left > 0; left -= buffer_bytes) {
      const size_t count = static_cast<size_t>(std::min(left, buffer_bytes)) / sizeof(double);
      tbb::parallel_for(size_t{0}, (count + stripe - 1) / stripe, [&](size_t part) {
        write(buffer.data() + part * stripe, std::min(stripe, count - part * stripe));
      });
    }
  });
}

void BenchTables(int num_attributes, int64_t size, size_t shared_order, int64_t batch_bytes,
                 int num_runs, const char* paper_seconds) {
  const Domain domain = EqualSizes(num_attributes, size);
  const std::vector<AttributeSet> tables = SetsUpToThree(num_attributes);
  const Residuals residuals = MakeResiduals(domain, tables, shared_order);
  const ResidualIndex index = MakeIndex(domain, residuals);
  int64_t num_cells = 0;
  int64_t largest = 0;
  for (const AttributeSet& table : tables) {
    num_cells += NumCellsInMemory(domain, table);
    largest = std::max(largest, NumCellsInMemory(domain, table));
  }
  const auto num_bytes = num_cells * static_cast<int64_t>(sizeof(double));
  const int64_t buffer_bytes =
      std::max(batch_bytes, largest * static_cast<int64_t>(sizeof(double)));
  std::vector<double> reconstruct, fill, clear;
  double sum = 0;
  for (int run = 0; run < num_runs; ++run) {
    reconstruct.push_back(Seconds([&] {
      ReconstructOptions options;
      options.batch_bytes = batch_bytes;
      ReconstructTables(index, tables, options,
                        [&](size_t, std::span<const double> counts) { sum += counts.front(); });
    }));
    fill.push_back(WriteSeconds(num_bytes, buffer_bytes, [](double* out, size_t count) {
      std::fill(out, out + count, 1.5);
    }));
    clear.push_back(WriteSeconds(num_bytes, buffer_bytes, [](double* out, size_t count) {
      std::memset(out, 0, count * sizeof(double));
    }));
  }
  if (sum == 0.5) fmt::print("\n");  // the counts are used
  const double seconds = Median(reconstruct);
  fmt::print("| {}*{} | {} | {:.3g} | {:.3f} | {:.3f} | {:.2f} | {:.3f} | {} | {:.0f} |\n", size,
             num_attributes, tables.size(), static_cast<double>(num_cells), seconds, Median(fill),
             seconds / Median(fill), Median(clear), paper_seconds, MegabytesAtPeak());
}

void Main() {
  fmt::print("All tables of up to 3 attributes, {} threads.\n\n", tbb::info::default_concurrency());
  fmt::print(
      "| domain | tables | cells | seconds | fill seconds | ratio | memset seconds | paper's "
      "seconds | peak MB |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|\n");
  BenchTables(100, 10, 4, int64_t{1} << 26, 5, "154.5");
  BenchTables(5, 512, 3, int64_t{1} << 28, 3, "166.0");
}

}  // namespace
}  // namespace residua

int main() { residua::Main(); }
