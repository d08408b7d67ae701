#include "residua/measure/row_counter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "residua/base/error.h"
#include "residua/base/vectorised.h"
#include "residua/measure/split_rows.h"

namespace residua {
namespace {

// Rows whose cell numbers are worked out together: small enough that they stay in the first-level
// cache beside the codes, large enough that the loops over them run at speed.
constexpr int64_t kBlockRows = 2048;

template <typename Index>
using Block = std::array<Index, kBlockRows>;

template <typename Index, typename Code>
[[gnu::always_inline]] inline void AppendCodes(const Code* __restrict code, int64_t size,
                                               size_t num_rows, Index* __restrict indices) {
  const auto factor = static_cast<Index>(size);
  for (size_t r = 0; r < num_rows; ++r) {
    indices[r] = static_cast<Index>(indices[r] * factor + code[r]);
  }
}

// For each width of codes and of cell numbers, because templates are not compiled for AVX2.
#define RESIDUA_APPEND_CODES(Code, Index)                                                      \
  RESIDUA_VECTORISED void Append(const Code* code, int64_t size, size_t num_rows, Index* to) { \
    AppendCodes(code, size, num_rows, to);                                                     \
  }
RESIDUA_APPEND_CODES(uint8_t, uint16_t)
RESIDUA_APPEND_CODES(uint8_t, uint32_t)
RESIDUA_APPEND_CODES(uint8_t, uint64_t)
RESIDUA_APPEND_CODES(uint16_t, uint16_t)
RESIDUA_APPEND_CODES(uint16_t, uint32_t)
RESIDUA_APPEND_CODES(uint16_t, uint64_t)
RESIDUA_APPEND_CODES(uint32_t, uint16_t)
RESIDUA_APPEND_CODES(uint32_t, uint32_t)
RESIDUA_APPEND_CODES(uint32_t, uint64_t)
#undef RESIDUA_APPEND_CODES

// The cells of some rows, by Horner's rule along the attributes: index <- index * size + code.
// Exact, because an index stays below the number of cells, which Index holds.
template <typename Index>
void FindCells(const EncodedTable& table, const AttributeSet& attributes, int64_t first_row,
               size_t num_rows, Index* indices) {
  for (const int i : attributes) {
    const int64_t size = table.sizes()[static_cast<size_t>(i)];
    std::visit(
        [&](const auto& codes) {
          if (i == attributes.front()) {
            std::copy_n(codes.data() + first_row, num_rows, indices);
          } else {
            Append(codes.data() + first_row, size, num_rows, indices);
          }
        },
        table.column(i));
  }
}

template <typename Index, typename Counter>
void CountBlock(const Block<Index>& indices, size_t num_rows, Counter* counter) {
  size_t r = 0;
  if constexpr (sizeof(Index) == 2) {
    // One load brings the cell numbers of four rows.
    for (; r + 4 <= num_rows; r += 4) {
      uint64_t four = 0;
      std::memcpy(&four, &indices[r], sizeof(four));
      ++counter[four & 0xffff];
      ++counter[four >> 16 & 0xffff];
      ++counter[four >> 32 & 0xffff];
      ++counter[four >> 48];
    }
  }
  for (; r < num_rows; ++r) ++counter[indices[r]];
}

template <typename Index, typename Counter>
void CountIndexed(const EncodedTable& table, const AttributeSet& attributes, int64_t begin,
                  int64_t end, std::vector<Counter>& counters) {
  Block<Index> indices;
  for (int64_t row = begin; row < end; row += kBlockRows) {
    const auto num_rows = static_cast<size_t>(std::min(kBlockRows, end - row));
    FindCells(table, attributes, row, num_rows, indices.data());
    CountBlock(indices, num_rows, counters.data());
  }
}

}  // namespace

template <typename Counter>
void CountRows(const EncodedTable& table, const AttributeSet& attributes, int64_t begin,
               int64_t end, std::vector<Counter>& counters) {
  if (attributes.empty()) {
    counters[0] += static_cast<Counter>(end - begin);
    return;
  }
  for (const int i : attributes) {
    if (table.steps(i) == 0) continue;
    CountSplitRows(table, attributes, i, begin, end, counters);
    return;
  }
  // The last index, not the number of cells, has to fit; and a size of 2^16 does not fit 16 bits.
  if (counters.size() <= std::numeric_limits<uint16_t>::max()) {
    CountIndexed<uint16_t>(table, attributes, begin, end, counters);
  } else if (counters.size() <= std::numeric_limits<uint32_t>::max()) {
    CountIndexed<uint32_t>(table, attributes, begin, end, counters);
  } else {
    CountIndexed<uint64_t>(table, attributes, begin, end, counters);
  }
}

void CellsOf(const EncodedTable& table, const AttributeSet& attributes, int64_t first_row,
             std::span<uint64_t> cells) {
  RESIDUA_CHECK(!attributes.empty());
  FindCells(table, attributes, first_row, cells.size(), cells.data());
}

template void CountRows(const EncodedTable&, const AttributeSet&, int64_t, int64_t,
                        std::vector<uint32_t>&);
template void CountRows(const EncodedTable&, const AttributeSet&, int64_t, int64_t,
                        std::vector<uint64_t>&);

}  // namespace residua
