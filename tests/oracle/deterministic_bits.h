#pragma once

#include <cstdint>
#include <span>

#include "residua/noise/bit_source.h"

namespace residua {

// A reproducible bit source, for tests only: SplitMix64 (Steele, Lea, Flood 2014) from `seed`.
class DeterministicBits final : public BitSource {
 public:
  explicit DeterministicBits(uint64_t seed) : state_(seed) {}

  void Fill(std::span<uint64_t> words) override;

 private:
  uint64_t state_;
};

// Hands out `script` word by word, then the bits of `seed`.
class ScriptedBits final : public BitSource {
 public:
  ScriptedBits(std::span<const uint64_t> script, uint64_t seed) : script_(script), rest_(seed) {}

  void Fill(std::span<uint64_t> words) override;

 private:
  std::span<const uint64_t> script_;
  DeterministicBits rest_;
};

}  // namespace residua
