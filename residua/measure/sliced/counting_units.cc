#include "residua/measure/sliced/counting_units.h"

#include <algorithm>

#include "residua/measure/encoded_table.h"
#include "residua/measure/sliced/sorted_rows.h"

namespace residua {

std::vector<CountingUnit> UnitsOf(const Domain& domain, std::span<const CountedTable> plan) {
  std::vector<CountingUnit> units;
  for (size_t t = 0; t < plan.size();) {
    CountingUnit unit{t, t + 1};
    if (const int slice = plan[t].slice; slice >= 0) {
      std::vector<AttributeSet> tables = {plan[t].attributes};
      for (; unit.last < plan.size() && plan[unit.last].slice == slice; ++unit.last) {
        tables.push_back(plan[unit.last].attributes);
      }
      unit.slices.emplace(domain, slice, std::move(tables));
    }
    t = unit.last;
    units.push_back(std::move(unit));
  }
  return units;
}

int64_t RowsPerPart(const Domain& domain, std::span<const CountedTable> plan, bool holds_rows) {
  // Every part moves all counters through the caches once, and every row is read once for each
  // table: with a quarter as many bytes of rows, the counters are a small share of the traffic.
  constexpr int64_t kLeastBytes = int64_t{1} << 20;
  constexpr int64_t kMostBytes = int64_t{1} << 24;
  int64_t counter_bytes = 0;
  for (const CountedTable& counted : plan) {
    counter_bytes += counted.num_cells * int64_t{sizeof(uint32_t)};
  }
  int64_t row_bytes = 0;
  for (const Attribute& attribute : domain.attributes()) row_bytes += CodeBytes(attribute);
  const int64_t part_bytes =
      holds_rows ? kMostBytes : std::clamp(counter_bytes / 4, kLeastBytes, kMostBytes);
  return std::max<int64_t>(part_bytes / std::max<int64_t>(row_bytes, 1), 1024);
}

int64_t SortingBytes(const Domain& domain, std::span<const CountedTable> plan, bool holds_rows,
                     int num_threads) {
  size_t most_words = 0;
  for (const CountingUnit& unit : UnitsOf(domain, plan)) {
    if (unit.slices) most_words = std::max(most_words, unit.slices->words_per_row());
  }
  // A part is taken once it has that many rows, and may get as many more as are read at once.
  const int64_t num_rows =
      holds_rows ? SortedRows::kMostRows
                 : std::min(RowsPerPart(domain, plan, holds_rows) + 4096, SortedRows::kMostRows);
  return num_threads * num_rows * static_cast<int64_t>(most_words * sizeof(uint64_t));
}

}  // namespace residua
