#include "residua/measure/sliced/lane_adder.h"

#include "residua/base/error.h"

namespace residua {
namespace {

using Operands = LaneAdder::Operands;

// The compiler's own vectors, which it adds in registers.
template <size_t kBytes>
struct Vector;
#define RESIDUA_VECTOR(width)                                              \
  template <>                                                              \
  struct Vector<width> {                                                   \
    using Bytes = uint8_t __attribute__((vector_size(width), may_alias));  \
    using Words = uint64_t __attribute__((vector_size(width), may_alias)); \
  };
RESIDUA_VECTOR(16)
RESIDUA_VECTOR(32)
RESIDUA_VECTOR(64)
#undef RESIDUA_VECTOR

// Word w looks at bit w of each byte, as BitOfLane says.
struct alignas(kNumLanes) LookedAt {
  std::array<uint64_t, kNumLanes / sizeof(uint64_t)> words;
};
constexpr uint64_t kFirstBits = 0x0101010101010101;
constexpr LookedAt kLookedAt = {{kFirstBits, kFirstBits << 1, kFirstBits << 2, kFirstBits << 3,
                                 kFirstBits << 4, kFirstBits << 5, kFirstBits << 6,
                                 kFirstBits << 7}};

template <size_t kBytes, size_t kSources, size_t kBases>
[[gnu::always_inline]] inline uint32_t AddLanes(const RowBytes& rows, const Operands& given) {
  using Bytes = typename Vector<kBytes>::Bytes;
  using Words = typename Vector<kBytes>::Words;
  constexpr size_t kParts = kNumLanes / kBytes;
  constexpr size_t kWords = kBytes / sizeof(uint64_t);
  // Copies, which the additions below cannot change.
  const Operands operands = given;
  const size_t num_rows = rows.num_rows;
  const size_t bytes_per_row = rows.bytes_per_row;
  const uint8_t* row = rows.digits;
  Words looked_at[kParts];
  for (size_t p = 0; p < kParts; ++p) {
    looked_at[p] = *reinterpret_cast<const Words*>(kLookedAt.words.data() + p * kWords);
  }
  Words seen[kBases] = {};
  for (size_t r = 0; r < num_rows; ++r, row += bytes_per_row) {
    uint64_t bits = operands.bits[0][row[operands.source_digits[0]]];
    for (size_t s = 1; s < kSources; ++s) bits |= operands.bits[s][row[operands.source_digits[s]]];
    Bytes added[kParts];  // -1 where the bit is set
    for (size_t p = 0; p < kParts; ++p) {
      const Words found = (Words{} + bits) & looked_at[p];
      added[p] = reinterpret_cast<Bytes>(reinterpret_cast<Bytes>(found) ==
                                         reinterpret_cast<Bytes>(looked_at[p]));
    }
    for (size_t b = 0; b < kBases; ++b) {
      auto* const lanes =
          reinterpret_cast<Bytes*>(operands.bases[b].lanes + row[operands.bases[b].digit]);
      for (size_t p = 0; p < kParts; ++p) {
        lanes[p] -= added[p];
        seen[b] |= reinterpret_cast<Words>(lanes[p]);
      }
    }
  }
  static_assert(kFullLane == 0x80);
  uint32_t full = 0;
  for (size_t b = 0; b < kBases; ++b) {
    uint64_t any = 0;
    for (size_t w = 0; w < kWords; ++w) any |= seen[b][w];
    full |= uint32_t{(any & 0x8080808080808080) != 0} << b;
  }
  return full;
}

// Templates take their instructions from the function that they are inlined into.
#define RESIDUA_ADD_LANES(name, target, bytes, sources, bases)                              \
  target uint32_t name##sources##x##bases(const RowBytes& rows, const Operands& operands) { \
    return AddLanes<bytes, sources, bases>(rows, operands);                                 \
  }
#define RESIDUA_ADD_LANES_FROM(name, target, bytes, sources) \
  RESIDUA_ADD_LANES(name, target, bytes, sources, 1)         \
  RESIDUA_ADD_LANES(name, target, bytes, sources, 2)         \
  RESIDUA_ADD_LANES(name, target, bytes, sources, 3)         \
  RESIDUA_ADD_LANES(name, target, bytes, sources, 4)
#define RESIDUA_ADD_LANES_OF(name, target, bytes)                                           \
  RESIDUA_ADD_LANES_FROM(name, target, bytes, 1)                                            \
  RESIDUA_ADD_LANES_FROM(name, target, bytes, 2)                                            \
  RESIDUA_ADD_LANES_FROM(name, target, bytes, 3)                                            \
  constexpr std::array<std::array<LaneAdder::Function, kMostBases>, kMostSources> k##name{{ \
      {name##1x1, name##1x2, name##1x3, name##1x4},                                         \
      {name##2x1, name##2x2, name##2x3, name##2x4},                                         \
      {name##3x1, name##3x2, name##3x3, name##3x4},                                         \
  }};
RESIDUA_ADD_LANES_OF(AddBy16, , 16)
#ifdef __x86_64__
RESIDUA_ADD_LANES_OF(AddBy32, __attribute__((target("avx2"))), 32)
RESIDUA_ADD_LANES_OF(AddBy64, __attribute__((target("avx512bw"))), 64)
#endif
#undef RESIDUA_ADD_LANES_OF
#undef RESIDUA_ADD_LANES_FROM
#undef RESIDUA_ADD_LANES

LaneAdder::Function FunctionOf(VectorWidth width, size_t num_sources, size_t num_bases) {
  RESIDUA_CHECK(num_sources >= 1 && num_sources <= kMostSources);
  RESIDUA_CHECK(num_bases >= 1 && num_bases <= kMostBases);
#ifdef __x86_64__
  if (width == VectorWidth::k64) return kAddBy64[num_sources - 1][num_bases - 1];
  if (width == VectorWidth::k32) return kAddBy32[num_sources - 1][num_bases - 1];
#endif
  RESIDUA_CHECK(width == VectorWidth::k16);
  return kAddBy16[num_sources - 1][num_bases - 1];
}

}  // namespace

std::vector<VectorWidth> WidthsOfThisProcessor() {
  std::vector<VectorWidth> widths = {VectorWidth::k16};
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) widths.push_back(VectorWidth::k32);
  if (__builtin_cpu_supports("avx512bw")) widths.push_back(VectorWidth::k64);
#endif
  return widths;
}

LaneAdder::LaneAdder(const LaneGroup& group, std::span<const LaneBase> bases, VectorWidth width)
    : add_(FunctionOf(width, group.sources.size(), bases.size())) {
  for (size_t s = 0; s < group.sources.size(); ++s) {
    operands_.source_digits[s] = group.sources[s].digit;
    operands_.bits[s] = group.sources[s].bits.data();
  }
  for (size_t b = 0; b < bases.size(); ++b) operands_.bases[b] = bases[b];
}

}  // namespace residua
