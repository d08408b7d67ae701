#include "residua/measure/row_counter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

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

template <typename First, typename Code, typename Index>
[[gnu::always_inline]] inline void CombineCodes(const First* __restrict first,
                                                const Code* __restrict code, int64_t size,
                                                size_t num_rows, Index* __restrict indices) {
  // Both factors in the width of `first`: a processor multiplies 16 bits by 16 bits into 32 in less
  // time than 32 bits by 32 bits.
  const auto factor = static_cast<uint16_t>(size);
  for (size_t r = 0; r < num_rows; ++r) {
    indices[r] =
        static_cast<Index>(static_cast<Index>(first[r]) * static_cast<Index>(factor) + code[r]);
  }
}

#define RESIDUA_COMBINE_CODES(First, Code, Index)                                     \
  RESIDUA_VECTORISED void Combine(const First* first, const Code* code, int64_t size, \
                                  size_t num_rows, Index* to) {                       \
    CombineCodes(first, code, size, num_rows, to);                                    \
  }
RESIDUA_COMBINE_CODES(uint8_t, uint8_t, uint16_t)
RESIDUA_COMBINE_CODES(uint8_t, uint16_t, uint16_t)
RESIDUA_COMBINE_CODES(uint16_t, uint8_t, uint16_t)
RESIDUA_COMBINE_CODES(uint16_t, uint16_t, uint16_t)
RESIDUA_COMBINE_CODES(uint16_t, uint8_t, uint32_t)
RESIDUA_COMBINE_CODES(uint16_t, uint16_t, uint32_t)
RESIDUA_COMBINE_CODES(uint16_t, uint8_t, uint64_t)
RESIDUA_COMBINE_CODES(uint16_t, uint16_t, uint64_t)
#undef RESIDUA_COMBINE_CODES

// The codes of one column, from some row on.
template <typename Visit>
void VisitCodes(const EncodedTable& table, int attribute, int64_t first_row, const Visit& visit) {
  std::visit([&](const auto& codes) { visit(codes.data() + first_row); }, table.column(attribute));
}

// Whether a pointer is to codes of 8 or 16 bits.
template <typename Pointer>
constexpr bool kIsNarrow = sizeof(*std::declval<Pointer>()) <= sizeof(uint16_t);

// The largest number of cells whose numbers, and whose count, 16 bits hold.
constexpr int64_t kMaxNarrowCells = std::numeric_limits<uint16_t>::max();

int64_t SizeOf(const EncodedTable& table, int attribute) {
  return table.sizes()[static_cast<size_t>(attribute)];
}

// How many of the attributes, from the first on, have at most kMaxNarrowCells cells together.
size_t NumNarrow(const EncodedTable& table, const AttributeSet& attributes) {
  int64_t num_cells = 1;
  size_t k = 0;
  for (; k < attributes.size(); ++k) {
    const int64_t size = SizeOf(table, attributes[k]);
    if (size > kMaxNarrowCells / num_cells) break;
    num_cells *= size;
  }
  return k;
}

// index <- index * size + code, along attributes[from], ... up to attributes[to], without the last.
template <typename Index>
void AppendAll(const EncodedTable& table, const AttributeSet& attributes, size_t from, size_t to,
               int64_t first_row, size_t num_rows, Index* indices) {
  for (size_t k = from; k < to; ++k) {
    VisitCodes(table, attributes[k], first_row, [&](const auto* codes) {
      Append(codes, SizeOf(table, attributes[k]), num_rows, indices);
    });
  }
}

template <typename Index>
void CopyFirst(const EncodedTable& table, int attribute, int64_t first_row, size_t num_rows,
               Index* indices) {
  VisitCodes(table, attribute, first_row,
             [&](const auto* codes) { std::copy_n(codes, num_rows, indices); });
}

// The cells of some rows in the table of the first `num_narrow` attributes, at least one: 16 bits
// hold them.
void FindNarrowCells(const EncodedTable& table, const AttributeSet& attributes, size_t num_narrow,
                     int64_t first_row, size_t num_rows, uint16_t* indices) {
  if (num_narrow == 1) return CopyFirst(table, attributes[0], first_row, num_rows, indices);
  VisitCodes(table, attributes[0], first_row, [&](const auto* first) {
    VisitCodes(table, attributes[1], first_row, [&](const auto* second) {
      // An attribute of so few cells has narrow codes.
      if constexpr (kIsNarrow<decltype(first)> && kIsNarrow<decltype(second)>) {
        Combine(first, second, SizeOf(table, attributes[1]), num_rows, indices);
      }
    });
  });
  AppendAll(table, attributes, 2, num_narrow, first_row, num_rows, indices);
}

// The cells of at most kBlockRows rows, by Horner's rule along the attributes:
// index <- index * size + code. Exact, because an index stays below the number of cells, which
// Index holds. As long as 16 bits hold the cells of the attributes so far, they are found in 16.
template <typename Index>
void FindCells(const EncodedTable& table, const AttributeSet& attributes, int64_t first_row,
               size_t num_rows, Index* indices) {
  RESIDUA_CHECK(num_rows <= kBlockRows);
  const size_t num_narrow = NumNarrow(table, attributes);
  size_t num_done = std::max<size_t>(num_narrow, 1);
  if constexpr (sizeof(Index) == sizeof(uint16_t)) {
    RESIDUA_CHECK(num_narrow == attributes.size());
    FindNarrowCells(table, attributes, num_narrow, first_row, num_rows, indices);
    return;
  } else if (num_narrow == 0) {
    CopyFirst(table, attributes[0], first_row, num_rows, indices);
  } else {
    Block<uint16_t> narrow;
    FindNarrowCells(table, attributes, num_narrow, first_row, num_rows, narrow.data());
    if (num_narrow == attributes.size() ||
        SizeOf(table, attributes[num_narrow]) > kMaxNarrowCells) {
      std::copy_n(narrow.data(), num_rows, indices);
    } else {
      VisitCodes(table, attributes[num_narrow], first_row, [&](const auto* codes) {
        if constexpr (kIsNarrow<decltype(codes)>) {
          Combine(narrow.data(), codes, SizeOf(table, attributes[num_narrow]), num_rows, indices);
        }
      });
      ++num_done;
    }
  }
  AppendAll(table, attributes, num_done, attributes.size(), first_row, num_rows, indices);
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
  for (size_t done = 0; done < cells.size(); done += kBlockRows) {
    FindCells(table, attributes, first_row + static_cast<int64_t>(done),
              std::min<size_t>(kBlockRows, cells.size() - done), cells.data() + done);
  }
}

template void CountRows(const EncodedTable&, const AttributeSet&, int64_t, int64_t,
                        std::vector<uint32_t>&);
template void CountRows(const EncodedTable&, const AttributeSet&, int64_t, int64_t,
                        std::vector<uint64_t>&);

}  // namespace residua
