#include "bench/limits.h"

#include <benchmark/benchmark.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "residua/noise/secure_bits.h"
#include "residua/reconstruct/scratch_buffer.h"

namespace residua::bench {
namespace {

// Reconstruction makes its own buffer of the same size and in the same way.
template <typename Write>
void WriteBytes(int64_t num_bytes, int64_t buffer_bytes, const Write& write) {
  const size_t stripe = size_t{1} << 17;
  ScratchBuffer buffer;
  buffer.Resize(buffer_bytes / static_cast<int64_t>(sizeof(double)));
  for (int64_t left = num_bytes; left > 0; left -= buffer_bytes) {
    const size_t count = static_cast<size_t>(std::min(left, buffer_bytes)) / sizeof(double);
    tbb::parallel_for(size_t{0}, (count + stripe - 1) / stripe, [&](size_t part) {
      write(buffer.data() + part * stripe, std::min(stripe, count - part * stripe));
    });
  }
}

}  // namespace

void FillBytes(int64_t num_bytes, int64_t buffer_bytes) {
  WriteBytes(num_bytes, buffer_bytes,
             [](double* out, size_t count) { std::fill(out, out + count, 1.5); });
}

void ClearBytes(int64_t num_bytes, int64_t buffer_bytes) {
  WriteBytes(num_bytes, buffer_bytes,
             [](double* out, size_t count) { std::memset(out, 0, count * sizeof(double)); });
}

void CountIndices(std::span<const uint16_t> indices, std::span<uint32_t> counters) {
  for (const uint16_t index : indices) ++counters[index];
  benchmark::ClobberMemory();
}

void DrawWords(int64_t num_words) {
  std::array<uint64_t, 2048> words;
  BitReader reader(ThreadSecureBits());
  for (int64_t left = num_words; left > 0; left -= static_cast<int64_t>(words.size())) {
    reader.Read(std::span(words).first(std::min(words.size(), static_cast<size_t>(left))));
    benchmark::DoNotOptimize(words.data());
  }
}

}  // namespace residua::bench
