#include "residua/measure/choose_rows.h"

#include <algorithm>
#include <string>
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

// The rows of each identifier that has more than `max_rows`, in order.
std::vector<std::vector<size_t>> RowsOver(std::span<const int64_t> identifiers, size_t num_names,
                                          int64_t max_rows) {
  std::vector<int64_t> num_rows(num_names, 0);
  for (const int64_t identifier : identifiers) ++num_rows.at(static_cast<size_t>(identifier));
  std::vector<std::vector<size_t>> rows(num_names);
  for (size_t row = 0; row < identifiers.size(); ++row) {
    const auto o = static_cast<size_t>(identifiers[row]);
    if (num_rows[o] > max_rows) rows[o].push_back(row);
  }
  return rows;
}

std::string CodesOfRow(std::span<const CodeColumn* const> columns, size_t row) {
  std::string codes;
  for (const CodeColumn* column : columns) {
    const auto code =
        std::visit([&](const auto& of_rows) { return uint32_t{of_rows[row]}; }, *column);
    for (const int shift : {0, 8, 16, 24}) codes.push_back(static_cast<char>(code >> shift & 0xff));
  }
  return codes;
}

}  // namespace

std::vector<char> ChooseRows(std::span<const int64_t> identifiers,
                             std::span<const std::string_view> names,
                             std::span<const CodeColumn* const> columns, int64_t max_rows,
                             const SealingKey& key) {
  RESIDUA_CHECK(max_rows >= 1);
  std::vector<char> is_kept(identifiers.size(), 1);
  const std::vector<std::vector<size_t>> over = RowsOver(identifiers, names.size(), max_rows);
  KeyedHash hash(key);
  for (size_t o = 0; o < over.size(); ++o) {
    std::vector<std::pair<std::string, size_t>> rows;
    for (const size_t row : over[o]) rows.emplace_back(CodesOfRow(columns, row), row);
    std::sort(rows.begin(), rows.end());
    std::vector<std::pair<Fingerprint, size_t>> drawn;
    int64_t num_equal = 0;
    for (size_t k = 0; k < rows.size(); ++k) {
      num_equal = k > 0 && rows[k].first == rows[k - 1].first ? num_equal + 1 : 0;
      hash.Add(std::ssize(names[o]));
      hash.Add(names[o]);
      hash.Add(num_equal);
      hash.Add(rows[k].first);
      drawn.emplace_back(hash.Take(), rows[k].second);
    }
    std::sort(drawn.begin(), drawn.end());
    for (size_t k = static_cast<size_t>(max_rows); k < drawn.size(); ++k) {
      is_kept[drawn[k].second] = 0;
    }
  }
  return is_kept;
}

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
