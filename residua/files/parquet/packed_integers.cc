#include "residua/files/parquet/packed_integers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "residua/base/int128.h"
#include "residua/files/parquet/thrift.h"

namespace residua {
namespace {

// The sizes that every reader of Parquet knows.
constexpr size_t kBlockValues = 128;
constexpr size_t kMiniblocks = 4;
constexpr size_t kMiniblockValues = kBlockValues / kMiniblocks;

// A block has a least step of a byte and its widths at least.
constexpr int64_t kLeastBlockBytes = 1 + static_cast<int64_t>(kMiniblocks);

// 32 numbers of `width` bits each, little-endian.
void AppendBits(const std::array<uint64_t, kBlockValues>& values, size_t first, int width,
                std::string* bytes) {
  std::array<uint64_t, kMiniblockValues + 1> words{};
  size_t bit = 0;
  for (size_t k = 0; k < kMiniblockValues; ++k, bit += static_cast<size_t>(width)) {
    const uint64_t value = values[first + k];
    const size_t shift = bit % 64;
    words[bit / 64] |= value << shift;
    if (shift + static_cast<size_t>(width) > 64) words[bit / 64 + 1] = value >> (64 - shift);
  }
  bytes->append(reinterpret_cast<const char*>(words.data()),
                kMiniblockValues / 8 * static_cast<size_t>(width));
}

// Adds up `count` steps of `width` bits each. Reads up to 16 bytes beyond them.
void SumSteps(const char* bits, int width, uint64_t least, size_t count, uint64_t* value,
              int64_t* out) {
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  uint64_t last = *value;
  if (width <= 56) {
    for (size_t k = 0; k < count; ++k) {
      const size_t bit = k * static_cast<size_t>(width);
      uint64_t word = 0;
      std::memcpy(&word, bits + bit / 8, sizeof word);
      last += least + (word >> bit % 8 & mask);
      out[k] = static_cast<int64_t>(last);
    }
  } else {
    for (size_t k = 0; k < count; ++k) {
      const size_t bit = k * static_cast<size_t>(width);
      UInt128 word = 0;
      std::memcpy(&word, bits + bit / 8, sizeof word);
      last += least + (static_cast<uint64_t>(word >> bit % 8) & mask);
      out[k] = static_cast<int64_t>(last);
    }
  }
  *value = last;
}

}  // namespace

void AppendPacked(std::span<const int64_t> values, std::string* bytes) {
  AppendVarint(kBlockValues, bytes);
  AppendVarint(kMiniblocks, bytes);
  AppendVarint(values.size(), bytes);
  AppendVarint(values.empty() ? 0 : ZigZag(static_cast<uint64_t>(values[0])), bytes);
  std::array<uint64_t, kBlockValues> steps;
  for (size_t begin = 1; begin < values.size(); begin += kBlockValues) {
    const size_t count = std::min(kBlockValues, values.size() - begin);
    auto least = std::numeric_limits<int64_t>::max();
    for (size_t k = 0; k < count; ++k) {
      // Steps wrap around, as readers expect.
      steps[k] =
          static_cast<uint64_t>(values[begin + k]) - static_cast<uint64_t>(values[begin + k - 1]);
      least = std::min(least, static_cast<int64_t>(steps[k]));
    }
    for (size_t k = 0; k < count; ++k) steps[k] -= static_cast<uint64_t>(least);
    std::fill(steps.begin() + static_cast<std::ptrdiff_t>(count), steps.end(), 0);
    AppendVarint(ZigZag(static_cast<uint64_t>(least)), bytes);
    std::array<int, kMiniblocks> widths{};
    for (size_t m = 0; m < kMiniblocks; ++m) {
      uint64_t any = 0;
      for (size_t k = 0; k < kMiniblockValues; ++k) any |= steps[m * kMiniblockValues + k];
      widths[m] = static_cast<int>(std::bit_width(any));
      *bytes += static_cast<char>(widths[m]);
    }
    for (size_t m = 0; m * kMiniblockValues < count; ++m) {
      AppendBits(steps, m * kMiniblockValues, widths[m], bytes);
    }
  }
}

int64_t MostPacked(int64_t num_bytes) {
  constexpr auto kBlock = static_cast<int64_t>(kBlockValues);
  if (num_bytes / kLeastBlockBytes >= std::numeric_limits<int64_t>::max() / kBlock - 1) {
    return std::numeric_limits<int64_t>::max();
  }
  return 1 + (num_bytes / kLeastBlockBytes + 1) * kBlock;
}

bool Unpack(std::string_view bytes, std::span<int64_t> values) {
  uint64_t block = 0, miniblocks = 0, count = 0, value = 0;
  if (!TakeVarint(&bytes, &block) || !TakeVarint(&bytes, &miniblocks) ||
      !TakeVarint(&bytes, &count) || !TakeVarint(&bytes, &value) || block != kBlockValues ||
      miniblocks != kMiniblocks || count != values.size()) {
    return false;
  }
  if (values.empty()) return bytes.empty();
  value = UnZigZag(value);
  values[0] = static_cast<int64_t>(value);
  for (size_t begin = 1; begin < values.size(); begin += kBlockValues) {
    const size_t left = std::min(kBlockValues, values.size() - begin);
    uint64_t least = 0;
    if (!TakeVarint(&bytes, &least) || bytes.size() < kMiniblocks) return false;
    least = UnZigZag(least);
    const std::string_view widths = bytes.substr(0, kMiniblocks);
    bytes.remove_prefix(kMiniblocks);
    for (size_t m = 0; m * kMiniblockValues < left; ++m) {
      const int width = static_cast<unsigned char>(widths[m]);
      const size_t num_bytes = kMiniblockValues / 8 * static_cast<size_t>(width);
      if (width > 64 || num_bytes > bytes.size()) return false;
      SumSteps(bytes.data(), width, least, std::min(kMiniblockValues, left - m * kMiniblockValues),
               &value, values.data() + begin + m * kMiniblockValues);
      bytes.remove_prefix(num_bytes);
    }
  }
  return bytes.empty();
}

}  // namespace residua
