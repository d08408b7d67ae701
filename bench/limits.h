#pragma once

#include <cstdint>
#include <span>

namespace residua::bench {

// What no program on this machine can do without, or faster: the least work of a stage.

// Twice the last cache at least, so that it is memory that is written.
inline constexpr int64_t kBeyondCaches = int64_t{1} << 26;

// Writes `num_bytes` over and over a new buffer of `buffer_bytes`, one stripe per task of the caller's
// task arena: with a double that is not zero, or cleared.
void FillBytes(int64_t num_bytes, int64_t buffer_bytes);
void ClearBytes(int64_t num_bytes, int64_t buffer_bytes);

// One increment of a 32-bit counter for each index: counting one table whose cell numbers are
// already there.
void CountIndices(std::span<const uint16_t> indices, std::span<uint32_t> counters);

// Secure random 64-bit words, into a buffer that stays in the first cache.
void DrawWords(int64_t num_words);

}  // namespace residua::bench
