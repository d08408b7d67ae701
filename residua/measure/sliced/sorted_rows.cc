#include "residua/measure/sliced/sorted_rows.h"

#include <algorithm>
#include <array>
#include <bit>

#include "residua/base/error.h"
#include "residua/base/vectorised.h"

namespace residua {
namespace {

static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");

// Rows that are packed together, in the first-level cache.
constexpr size_t kPackedTogether = 1024;

// digits <- digits * size + codes: below 256, as the cells of a digit are.
RESIDUA_VECTORISED void AppendDigit(const uint8_t* __restrict codes, uint8_t size, size_t num_rows,
                                    uint8_t* __restrict digits) {
  for (size_t r = 0; r < num_rows; ++r) {
    digits[r] = static_cast<uint8_t>(digits[r] * size + codes[r]);
  }
}

#define RESIDUA_JOIN(Half, Whole)                                                                \
  RESIDUA_VECTORISED void Join(const Half* __restrict low, const Half* __restrict high,          \
                               size_t num_rows, Whole* __restrict whole) {                       \
    for (size_t r = 0; r < num_rows; ++r) {                                                      \
      whole[r] = static_cast<Whole>(low[r] | static_cast<Whole>(high[r]) << (8 * sizeof(Half))); \
    }                                                                                            \
  }
RESIDUA_JOIN(uint8_t, uint16_t)
RESIDUA_JOIN(uint16_t, uint32_t)
RESIDUA_JOIN(uint32_t, uint64_t)
#undef RESIDUA_JOIN

const uint8_t* CodesOf(const EncodedTable& table, int attribute) {
  return std::get<std::vector<uint8_t>>(table.column(attribute)).data();
}

// Packs the digits of one block of rows after the other.
class Packer {
 public:
  Packer(const EncodedTable& table, const SlicePlan& plan) : table_(table), plan_(plan) {}

  // The words with digits [8 w, 8 w + 8) of the rows from `first_row` on.
  const std::array<uint64_t, kPackedTogether>& Pack(size_t w, int64_t first_row, size_t num_rows) {
    std::array<const uint8_t*, 8> digits;
    for (size_t k = 0; k < 8; ++k) digits[k] = Digits(8 * w + k, k, first_row, num_rows);
    for (size_t k = 0; k < 4; ++k) {
      Join(digits[2 * k], digits[2 * k + 1], num_rows, pairs_[k].data());
    }
    for (size_t k = 0; k < 2; ++k) {
      Join(pairs_[2 * k].data(), pairs_[2 * k + 1].data(), num_rows, fours_[k].data());
    }
    Join(fours_[0].data(), fours_[1].data(), num_rows, words_.data());
    return words_;
  }

 private:
  const uint8_t* Digits(size_t digit, size_t k, int64_t first_row, size_t num_rows) {
    if (digit >= plan_.digits().size()) return zeros_.data();
    const Digit& of = plan_.digits()[digit];
    const uint8_t* first = CodesOf(table_, of.attributes[0]) + first_row;
    if (of.attributes.size() == 1) return first;
    std::copy_n(first, num_rows, joint_[k].data());
    for (size_t i = 1; i < of.attributes.size(); ++i) {
      AppendDigit(CodesOf(table_, of.attributes[i]) + first_row, static_cast<uint8_t>(of.sizes[i]),
                  num_rows, joint_[k].data());
    }
    return joint_[k].data();
  }

  const EncodedTable& table_;
  const SlicePlan& plan_;
  std::array<uint8_t, kPackedTogether> zeros_ = {};
  std::array<std::array<uint8_t, kPackedTogether>, 8> joint_;
  std::array<std::array<uint16_t, kPackedTogether>, 4> pairs_;
  std::array<std::array<uint32_t, kPackedTogether>, 2> fours_;
  std::array<uint64_t, kPackedTogether> words_;
};

}  // namespace

SortedRows::SortedRows(const EncodedTable& table, int64_t begin, int64_t end, const SlicePlan& plan,
                       Memory* memory)
    : words_per_row_(plan.words_per_row()), starts_(plan.num_values() + 1, 0) {
  RESIDUA_CHECK(begin <= end && end - begin <= kMostRows);
  const auto num_rows = static_cast<size_t>(end - begin);
  if (memory->num_words < num_rows * words_per_row_) {
    memory->num_words = num_rows * words_per_row_;
    memory->words = std::make_unique_for_overwrite<uint64_t[]>(memory->num_words);
  }
  uint64_t* words = memory->words.get();
  words_ = words;
  const uint8_t* codes = CodesOf(table, plan.slice()) + begin;
  // Four counters for each value, so that equal neighbours do not wait for each other.
  std::array<std::array<uint32_t, 256>, 4> counts = {};
  for (size_t r = 0; r < num_rows; ++r) ++counts[r % 4][codes[r]];
  std::array<size_t, 256> next = {};
  for (size_t v = 0; v < plan.num_values(); ++v) {
    next[v] = starts_[v];
    starts_[v + 1] = starts_[v];
    for (const auto& some : counts) starts_[v + 1] += some[v];
  }
  Packer packer(table, plan);
  for (size_t done = 0; done < num_rows; done += kPackedTogether) {
    const size_t block = std::min(kPackedTogether, num_rows - done);
    const int64_t first_row = begin + static_cast<int64_t>(done);
    std::array<size_t, kPackedTogether> places;
    for (size_t w = 0; w < words_per_row_; ++w) {
      const auto& packed = packer.Pack(w, first_row, block);
      if (words_per_row_ == 1) {
        for (size_t r = 0; r < block; ++r) words[next[codes[done + r]]++] = packed[r];
        continue;
      }
      if (w == 0) {
        for (size_t r = 0; r < block; ++r) places[r] = next[codes[done + r]]++ * words_per_row_;
      }
      for (size_t r = 0; r < block; ++r) words[places[r] + w] = packed[r];
    }
  }
}

}  // namespace residua
