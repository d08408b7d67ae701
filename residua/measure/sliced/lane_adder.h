#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "residua/measure/sliced/row_digits.h"

namespace residua {

// Counters of 8 bits each, which are added to at once.
struct alignas(kNumLanes) Lanes {
  std::array<uint8_t, kNumLanes> lane = {};
};

// A lane that has reached this number must be emptied before more than kRowsPerAddition rows are
// added. A row adds at most 1 to a lane, so that no lane exceeds 127 + 127, which 8 bits hold.
inline constexpr uint8_t kFullLane = 128;
inline constexpr size_t kRowsPerAddition = 127;

// Some packed rows, one after the other.
struct RowBytes {
  const uint8_t* digits = nullptr;
  size_t bytes_per_row = 0;
  size_t num_rows = 0;
};

// A digit and the lanes of each of its cells.
struct LaneBase {
  size_t digit = 0;
  Lanes* lanes = nullptr;
};
inline constexpr size_t kMostBases = 4;

// How many bytes processors add at once: 64 with AVX-512, 32 with AVX2. The sums are the same.
enum class VectorWidth { k16, k32, k64 };
std::vector<VectorWidth> WidthsOfThisProcessor();  // narrow ones first

// Adds a row's lanes of `group` to those of its cell in each base, for at most kRowsPerAddition
// rows. No lane is full before. Returns in bit b whether a lane of base b is full then.
class LaneAdder {
 public:
  LaneAdder(const LaneGroup& group, std::span<const LaneBase> bases, VectorWidth width);

  [[nodiscard]] uint32_t Add(const RowBytes& rows) const { return add_(rows, operands_); }

  struct Operands {
    std::array<size_t, kMostSources> source_digits = {};
    std::array<const uint64_t*, kMostSources> bits = {};
    std::array<LaneBase, kMostBases> bases = {};
  };
  using Function = uint32_t (*)(const RowBytes&, const Operands&);

 private:
  Operands operands_;
  Function add_;
};

}  // namespace residua
