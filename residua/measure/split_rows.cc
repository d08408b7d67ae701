#include "residua/measure/split_rows.h"

#include <algorithm>
#include <array>
#include <limits>

#include "residua/base/error.h"

namespace residua {
namespace {

// Rows whose cells are worked out together; their numbers stay in the first-level cache.
constexpr int64_t kSplitRows = 2048;

}  // namespace

template <typename Counter>
void CountSplitRows(const EncodedTable& table, const AttributeSet& attributes, int mean,
                    int64_t begin, int64_t end, std::vector<Counter>& counters) {
  const auto steps = static_cast<uint64_t>(table.steps(mean));
  RESIDUA_CHECK(steps > 0);
  uint64_t inner = 1;  // cells of the attributes after it
  for (const int i : attributes) {
    if (i > mean) inner *= static_cast<uint64_t>(table.sizes()[static_cast<size_t>(i)]);
  }
  std::array<uint64_t, kSplitRows> first_cells;
  for (int64_t first = begin; first < end; first += kSplitRows) {
    const auto num_rows = static_cast<size_t>(std::min(kSplitRows, end - first));
    std::fill_n(first_cells.begin(), num_rows, 0);
    for (const int i : attributes) {
      const auto size = static_cast<uint64_t>(table.sizes()[static_cast<size_t>(i)]);
      if (i == mean) {
        for (size_t r = 0; r < num_rows; ++r) first_cells[r] *= size;
        continue;
      }
      std::visit(
          [&](const auto& codes) {
            const auto* code = codes.data() + first;
            for (size_t r = 0; r < num_rows; ++r) first_cells[r] = first_cells[r] * size + code[r];
          },
          table.column(i));
    }
    std::visit(
        [&](const auto& codes) {
          const auto* code = codes.data() + first;
          for (size_t r = 0; r < num_rows; ++r) {
            const uint64_t above = code[r];
            const uint64_t cell = first_cells[r];
            if (above <= steps) {
              counters[cell] += static_cast<Counter>(steps - above);
              counters[cell + inner] += static_cast<Counter>(above);
            } else {
              counters[cell + 2 * inner] += static_cast<Counter>(steps);
            }
          }
        },
        table.column(mean));
  }
}

template void CountSplitRows(const EncodedTable&, const AttributeSet&, int, int64_t, int64_t,
                             std::vector<uint32_t>&);
template void CountSplitRows(const EncodedTable&, const AttributeSet&, int, int64_t, int64_t,
                             std::vector<uint64_t>&);

int64_t MostRowSteps(const Domain& domain, std::span<const AttributeSet> sets) {
  int64_t most = 1;
  for (const AttributeSet& set : sets) most = std::max(most, RowSteps(domain, set));
  return most;
}

void CheckRowsFit(const Domain& domain, std::span<const AttributeSet> sets, int64_t num_rows) {
  const int64_t steps = MostRowSteps(domain, sets);
  if (num_rows <= std::numeric_limits<int64_t>::max() / steps) return;
  Fail(ErrorKind::kTooLarge,
       "sums of {} rows of {} steps each may not fit 64 bits; use numbers with a larger step",
       num_rows, steps);
}

}  // namespace residua
