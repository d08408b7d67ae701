#include "residua/noise/bit_source.h"

#include <string.h>

#include <algorithm>
#include <bit>

#include "residua/base/error.h"

namespace residua {
namespace {

// 64 zero words in a row have probability 2^-4096: the source is broken, and a loop on it would
// not end.
constexpr int kMaxZeroWords = 64;

}  // namespace

void Wipe(void* memory, size_t num_bytes) { explicit_bzero(memory, num_bytes); }

BitSource::~BitSource() { Wipe(buffer_.data(), sizeof(buffer_)); }

BitReader::BitReader(BitSource& source) : source_(source) {
  if (source_.BufferIsShared()) source_.position_ = BitSource::kBufferWords;
  position_ = first_unwiped_ = source_.position_;
}

BitReader::~BitReader() {
  Wipe(source_.buffer_.data() + first_unwiped_, (position_ - first_unwiped_) * sizeof(uint64_t));
  source_.position_ = position_;
}

void BitReader::Refill() {
  // If Fill throws, nothing in the buffer counts as fresh: position_ is at its end.
  source_.Fill(source_.buffer_);
  position_ = first_unwiped_ = 0;
}

void BitReader::Read(std::span<uint64_t> words) {
  while (!words.empty()) {
    if (position_ == BitSource::kBufferWords) Refill();
    const size_t count = std::min(words.size(), BitSource::kBufferWords - position_);
    std::copy_n(source_.buffer_.data() + position_, count, words.data());
    position_ += count;
    words = words.subspan(count);
  }
}

uint64_t BitReader::Geometric() {
  for (uint64_t zero_words = 0; zero_words < kMaxZeroWords; ++zero_words) {
    const uint64_t word = Next();
    if (word != 0) return 64 * zero_words + static_cast<uint64_t>(std::countr_zero(word));
  }
  Fail(ErrorKind::kEntropy, "random bits: {} zero words in a row; the bit source is broken",
       kMaxZeroWords);
}

}  // namespace residua
