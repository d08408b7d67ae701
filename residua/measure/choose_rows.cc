#include "residua/measure/choose_rows.h"

#include <algorithm>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/int128.h"

namespace residua {
namespace {

// Uniform on 0..bound-1: the high word of a product, drawn again in the 2^64 mod `bound` low words
// that would favour some results.
uint64_t Below(uint64_t bound, BitReader& reader) {
  const uint64_t rejected = (0 - bound) % bound;
  for (;;) {
    const auto product = static_cast<UInt128>(reader.Next()) * bound;
    if (static_cast<uint64_t>(product) >= rejected) return static_cast<uint64_t>(product >> 64);
  }
}

}  // namespace

std::vector<char> ChooseRows(std::span<const int64_t> identifiers, int64_t max_rows,
                             BitSource& bits) {
  RESIDUA_CHECK(max_rows >= 1);
  std::vector<int64_t> num_rows;
  for (const int64_t identifier : identifiers) {
    RESIDUA_CHECK(identifier >= 0);
    const auto o = static_cast<size_t>(identifier);
    if (o >= num_rows.size()) num_rows.resize(o + 1, 0);
    ++num_rows[o];
  }
  // The rows of identifiers that have too many, in random order; the first of each are kept.
  std::vector<char> is_kept(identifiers.size(), 1);
  std::vector<size_t> rows;
  for (size_t row = 0; row < identifiers.size(); ++row) {
    if (num_rows[static_cast<size_t>(identifiers[row])] > max_rows) rows.push_back(row);
  }
  BitReader reader(bits);
  for (size_t k = rows.size(); k > 1; --k) std::swap(rows[k - 1], rows[Below(k, reader)]);
  std::vector<int64_t> num_kept(num_rows.size(), 0);
  for (const size_t row : rows) {
    is_kept[row] = ++num_kept[static_cast<size_t>(identifiers[row])] <= max_rows ? 1 : 0;
  }
  return is_kept;
}

}  // namespace residua
