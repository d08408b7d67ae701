#include "residua/measure/sliced/sorted_rows.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "residua/base/error.h"

namespace residua {
namespace {

// Where the next row of each value goes.
using Places = std::array<uint64_t*, static_cast<size_t>(kMostSliceValues)>;

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

// The rows of one word each. One load brings the codes of four rows.
void PlaceWords(const PackedRows& rows, const uint8_t* codes, Places* places) {
  Places& next = *places;
  const uint64_t* const words = rows.words();
  const size_t stride = rows.words_per_row();
  const size_t num_rows = rows.num_rows();
  size_t r = 0;
  for (; r + 4 <= num_rows; r += 4) {
    uint32_t four = 0;
    std::memcpy(&four, codes + r, sizeof(four));
    *next[four & 0xff]++ = words[r * stride];
    *next[four >> 8 & 0xff]++ = words[(r + 1) * stride];
    *next[four >> 16 & 0xff]++ = words[(r + 2) * stride];
    *next[four >> 24]++ = words[(r + 3) * stride];
  }
  for (; r < num_rows; ++r) *next[codes[r]]++ = words[r * stride];
}

void PlaceRows(const PackedRows& rows, const uint8_t* codes, size_t num_words, Places* places) {
  const uint64_t* from = rows.words();
  for (size_t r = 0; r < rows.num_rows(); ++r, from += rows.words_per_row()) {
    uint64_t*& to = (*places)[codes[r]];
    for (size_t w = 0; w < num_words; ++w) to[w] = from[w];
    to += num_words;
  }
}

}  // namespace

SortedRows::SortedRows(const PackedRows& rows, const SlicePlan& plan, RowMemory* memory)
    : words_per_row_(plan.words_per_row()), starts_(plan.num_values() + 1, 0) {
  RESIDUA_CHECK(words_per_row_ <= rows.words_per_row());
  uint64_t* const words = memory->Words(rows.num_rows() * words_per_row_);
  words_ = words;
  const uint8_t* codes = rows.codes(plan.slice());
  const std::array<Counts, 4> counts = CountCodes(codes, rows.num_rows());
  Places places = {};
  for (size_t v = 0; v < plan.num_values(); ++v) {
    places[v] = words + starts_[v] * words_per_row_;
    starts_[v + 1] = starts_[v];
    for (const Counts& some : counts) starts_[v + 1] += some[v];
  }
  if (words_per_row_ == 1) {
    PlaceWords(rows, codes, &places);
  } else {
    PlaceRows(rows, codes, words_per_row_, &places);
  }
}

}  // namespace residua
