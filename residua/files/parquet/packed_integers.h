#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace residua {

// Integers as Parquet's encoding DELTA_BINARY_PACKED has them: the first, then the steps from each
// to the next, less the smallest step of their block, in as many bits as the largest of 32 needs.
// Integers with noise of standard deviation s take about log2(s) + 3 bits each. The result is a
// function of the integers alone.
void AppendPacked(std::span<const int64_t> values, std::string* bytes);

// The most integers that so many bytes can hold.
int64_t MostPacked(int64_t num_bytes);

// Reads values.size() of them; false if `bytes` hold anything else. Any bytes are safe, but
// `kPackedPadding` more must be readable after them.
inline constexpr size_t kPackedPadding = 16;
bool Unpack(std::string_view bytes, std::span<int64_t> values);

}  // namespace residua
