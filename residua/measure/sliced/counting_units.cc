#include "residua/measure/sliced/counting_units.h"

#include <algorithm>
#include <memory>

#include "residua/measure/encoded_table.h"
#include "residua/measure/sliced/packed_rows.h"

namespace residua {

std::vector<CountingUnit> UnitsOf(const Domain& domain, std::span<const CountedTable> plan) {
  std::vector<CountingUnit> units;
  std::vector<SlicedSets> sliced;  // of the units with slices
  for (size_t t = 0; t < plan.size();) {
    size_t last = t + 1;
    if (const int slice = plan[t].slice; slice >= 0) {
      std::vector<AttributeSet> tables = {plan[t].attributes};
      for (; last < plan.size() && plan[last].slice == slice; ++last) {
        tables.push_back(plan[last].attributes);
      }
      sliced.push_back({slice, std::move(tables)});
    }
    units.push_back(CountingUnit{t, last, std::nullopt});
    t = last;
  }
  const auto digits = std::make_shared<const RowDigits>(domain, sliced);
  auto next = sliced.begin();
  for (CountingUnit& unit : units) {
    if (plan[unit.first].slice >= 0) unit.slices.emplace(domain, std::move(*next++), digits);
  }
  return units;
}

const RowDigits* RowDigitsOf(std::span<const CountingUnit> units) {
  const auto sliced = std::find_if(units.begin(), units.end(),
                                   [](const CountingUnit& unit) { return unit.slices; });
  return sliced == units.end() ? nullptr : &sliced->slices->row_digits();
}

int64_t RowsPerPart(const Domain& domain, std::span<const CountedTable> plan, bool holds_rows) {
  // Every part moves all counters through the caches once, and every row is read once for each
  // table: with a quarter as many bytes of rows, the counters are a small share of the traffic.
  constexpr int64_t kLeastBytes = int64_t{1} << 20;
  // Each thread has a part, and as much again to sort it.
  constexpr int64_t kMostBytes = int64_t{3} << 23;
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
  const std::vector<CountingUnit> units = UnitsOf(domain, plan);
  const RowDigits* const digits = RowDigitsOf(units);
  if (digits == nullptr) return 0;
  // As they come, and sorted.
  const auto bytes_per_row = static_cast<int64_t>(2 * digits->words_per_row() * sizeof(uint64_t));
  // A part is taken once it has that many rows, and may get as many more as are read at once.
  const int64_t num_rows =
      holds_rows ? PackedRows::kMostRows
                 : std::min(RowsPerPart(domain, plan, holds_rows) + 4096, PackedRows::kMostRows);
  return num_threads * num_rows * bytes_per_row;
}

}  // namespace residua
