#pragma once

#include <cstdint>
#include <span>

namespace residua::bench {

// The least work of a stage: what every program must do, as fast as this machine can do it.

// At least twice the size of the last cache, so that main memory is written.
inline constexpr int64_t kBeyondCaches = int64_t{1} << 26;

// Writes `num_bytes` in total into a new buffer of `buffer_bytes`, again and again, one stripe per
// task of the caller's task arena: a double that is not zero, or zeros.
void FillBytes(int64_t num_bytes, int64_t buffer_bytes);
void ClearBytes(int64_t num_bytes, int64_t buffer_bytes);

// One increment of a 32-bit counter for each index: counting one table whose cell numbers are
// already known.
void CountIndices(std::span<const uint16_t> indices, std::span<uint32_t> counters);

// Secure random 64-bit words, into a buffer that stays in the first cache.
void DrawWords(int64_t num_words);

}  // namespace residua::bench
