#include "residua/noise/bit_source.h"

#include <string.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

// 64 zero words in a row have probability 2^-4096: the source is broken, and a loop on it would
// not end.
constexpr int kMaxZeroWords = 64;

}  // namespace

void Wipe(void* memory, size_t num_bytes) { explicit_bzero(memory, num_bytes); }

BitSource::BitSource() : BitSource({new BitBuffer, [](BitBuffer* buffer) { delete buffer; }}) {}

BitSource::BitSource(Buffer buffer) : buffer_(std::move(buffer)) {}

BitSource::~BitSource() { Wipe(buffer_.get(), sizeof(BitBuffer)); }

BitReader::BitReader(BitSource& source) : source_(source), buffer_(*source.buffer_) {
  if (source_.BufferIsShared()) buffer_.num_fresh = 0;
  first_unwiped_ = BitBuffer::kNumWords - buffer_.num_fresh;
}

BitReader::~BitReader() {
  const size_t end = BitBuffer::kNumWords - buffer_.num_fresh;
  Wipe(buffer_.words.data() + first_unwiped_, (end - first_unwiped_) * sizeof(uint64_t));
}

void BitReader::Refill() {
  // If Fill throws, nothing in the buffer counts as fresh.
  source_.Fill(buffer_.words);
  buffer_.num_fresh = BitBuffer::kNumWords;
  first_unwiped_ = 0;
}

void BitReader::Read(std::span<uint64_t> words) {
  while (!words.empty()) {
    if (buffer_.num_fresh == 0) Refill();
    const size_t count = std::min(words.size(), buffer_.num_fresh);
    std::copy_n(buffer_.words.end() - static_cast<ptrdiff_t>(buffer_.num_fresh), count,
                words.data());
    buffer_.num_fresh -= count;
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
