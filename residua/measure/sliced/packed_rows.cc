#include "residua/measure/sliced/packed_rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

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

// Packs the digits of one block of rows after the other.
class Packer {
 public:
  Packer(const PackedRows& rows, const RowDigits& digits) : rows_(rows), digits_(digits) {}

  // The words with digits [8 w, 8 w + 8) of the rows from `first_row` on.
  void Pack(size_t w, size_t first_row, size_t num_rows, uint64_t* words) {
    std::array<const uint8_t*, 8> bytes;
    for (size_t k = 0; k < 8; ++k) bytes[k] = Bytes(8 * w + k, k, first_row, num_rows);
    for (size_t k = 0; k < 4; ++k) {
      Join(bytes[2 * k], bytes[2 * k + 1], num_rows, pairs_[k].data());
    }
    for (size_t k = 0; k < 2; ++k) {
      Join(pairs_[2 * k].data(), pairs_[2 * k + 1].data(), num_rows, fours_[k].data());
    }
    Join(fours_[0].data(), fours_[1].data(), num_rows, words);
  }

 private:
  const uint8_t* Bytes(size_t digit, size_t k, size_t first_row, size_t num_rows) {
    if (digit >= digits_.digits().size()) return zeros_.data();
    const Digit& of = digits_.digits()[digit];
    const uint8_t* first = rows_.codes(of.attributes[0]) + first_row;
    if (of.attributes.size() == 1) return first;
    std::copy_n(first, num_rows, joint_[k].data());
    for (size_t i = 1; i < of.attributes.size(); ++i) {
      AppendDigit(rows_.codes(of.attributes[i]) + first_row, static_cast<uint8_t>(of.sizes[i]),
                  num_rows, joint_[k].data());
    }
    return joint_[k].data();
  }

  const PackedRows& rows_;
  const RowDigits& digits_;
  std::array<uint8_t, kPackedTogether> zeros_ = {};
  std::array<std::array<uint8_t, kPackedTogether>, 8> joint_;
  std::array<std::array<uint16_t, kPackedTogether>, 4> pairs_;
  std::array<std::array<uint32_t, kPackedTogether>, 2> fours_;
};

}  // namespace

uint64_t* RowMemory::Words(size_t num_words) {
  if (num_words_ < num_words) {
    // The next rows may be a few more.
    num_words_ = num_words + num_words / 16;
    words_ = std::make_unique_for_overwrite<uint64_t[]>(num_words_);
  }
  return words_.get();
}

PackedRows::PackedRows(const EncodedTable& table, int64_t begin, int64_t end,
                       const RowDigits& digits, RowMemory* memory)
    : table_(table),
      begin_(begin),
      num_rows_(static_cast<size_t>(end - begin)),
      words_per_row_(digits.words_per_row()) {
  RESIDUA_CHECK(begin <= end && end - begin <= kMostRows);
  uint64_t* const words = memory->Words(num_rows_ * words_per_row_);
  words_ = words;
  Packer packer(*this, digits);
  for (size_t done = 0; done < num_rows_; done += kPackedTogether) {
    const size_t block = std::min(kPackedTogether, num_rows_ - done);
    if (words_per_row_ == 1) {
      packer.Pack(0, done, block, words + done);
      continue;
    }
    std::array<uint64_t, kPackedTogether> column;
    for (size_t w = 0; w < words_per_row_; ++w) {
      packer.Pack(w, done, block, column.data());
      uint64_t* to = words + done * words_per_row_ + w;
      for (size_t r = 0; r < block; ++r) to[r * words_per_row_] = column[r];
    }
  }
}

const uint8_t* PackedRows::codes(int attribute) const {
  return std::get<std::vector<uint8_t>>(table_.column(attribute)).data() + begin_;
}

}  // namespace residua
