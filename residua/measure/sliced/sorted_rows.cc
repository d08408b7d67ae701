#include "residua/measure/sliced/sorted_rows.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "residua/base/error.h"

namespace residua {
namespace {

// Where the next row of each value goes.
using Places = std::array<uint8_t*, static_cast<size_t>(kMostSliceValues)>;

// How far ahead of a row the cache fetches what later rows are written to: the next line of a value is
// there when its rows reach it. Sorting takes up to twice as long without.
constexpr size_t kFetchedAhead = 64;

// Four counters for each value, so that equal neighbours do not wait for each other.
using Counts = std::array<uint32_t, static_cast<size_t>(kMostSliceValues)>;
std::array<Counts, 4> CountCodes(const uint8_t* codes, size_t num_rows) {
  std::array<Counts, 4> counts = {};
  size_t r = 0;
  for (; r + 4 <= num_rows; r += 4) {
    for (size_t k = 0; k < 4; ++k) ++counts[k][codes[r + k]];
  }
  for (; r < num_rows; ++r) ++counts[0][codes[r]];
  return counts;
}

// The first bytes of each row's word, as many as a `Word` has. One load brings the codes of four
// rows.
template <typename Word>
void PlaceWords(const PackedRows& rows, const uint8_t* codes, Places* places) {
  Places& next = *places;
  const uint64_t* const words = rows.words();
  const size_t stride = rows.words_per_row();
  const size_t num_rows = rows.num_rows();
  const auto place = [&](size_t code, size_t r) {
    uint8_t* const to = next[code];
    __builtin_prefetch(to + kFetchedAhead, 1);
    std::memcpy(to, words + r * stride, sizeof(Word));
    next[code] = to + sizeof(Word);
  };
  size_t r = 0;
  for (; r + 4 <= num_rows; r += 4) {
    uint32_t four = 0;
    std::memcpy(&four, codes + r, sizeof(four));
    place(four & 0xff, r);
    place(four >> 8 & 0xff, r + 1);
    place(four >> 16 & 0xff, r + 2);
    place(four >> 24, r + 3);
  }
  for (; r < num_rows; ++r) place(codes[r], r);
}

void PlaceRows(const PackedRows& rows, const uint8_t* codes, size_t bytes_per_row, Places* places) {
  const uint64_t* from = rows.words();
  for (size_t r = 0; r < rows.num_rows(); ++r, from += rows.words_per_row()) {
    uint8_t*& to = (*places)[codes[r]];
    __builtin_prefetch(to + bytes_per_row + kFetchedAhead, 1);
    std::memcpy(to, from, bytes_per_row);
    to += bytes_per_row;
  }
}

}  // namespace

SortedRows::SortedRows(const PackedRows& rows, const SlicePlan& plan, RowMemory* memory)
    : bytes_per_row_(plan.bytes_per_row()), starts_(plan.num_values() + 1, 0) {
  RESIDUA_CHECK(bytes_per_row_ <= rows.words_per_row() * sizeof(uint64_t));
  const size_t num_words = (rows.num_rows() * bytes_per_row_ + 7) / sizeof(uint64_t);
  auto* const bytes = reinterpret_cast<uint8_t*>(memory->Words(num_words));
  bytes_ = bytes;
  const uint8_t* codes = rows.codes(plan.slice());
  const std::array<Counts, 4> counts = CountCodes(codes, rows.num_rows());
  Places places = {};
  for (size_t v = 0; v < plan.num_values(); ++v) {
    places[v] = bytes + starts_[v] * bytes_per_row_;
    starts_[v + 1] = starts_[v];
    for (const Counts& some : counts) starts_[v + 1] += some[v];
  }
  if (bytes_per_row_ == sizeof(uint32_t)) {
    PlaceWords<uint32_t>(rows, codes, &places);
  } else if (bytes_per_row_ == sizeof(uint64_t)) {
    PlaceWords<uint64_t>(rows, codes, &places);
  } else {
    PlaceRows(rows, codes, bytes_per_row_, &places);
  }
}

}  // namespace residua
