#include "tests/oracle/deterministic_bits.h"

#include <algorithm>

namespace residua {

void DeterministicBits::Fill(std::span<uint64_t> words) {
  for (uint64_t& word : words) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

void ScriptedBits::Fill(std::span<uint64_t> words) {
  const size_t count = std::min(words.size(), script_.size());
  std::copy_n(script_.begin(), count, words.begin());
  script_ = script_.subspan(count);
  rest_.Fill(words.subspan(count));
}

}  // namespace residua
