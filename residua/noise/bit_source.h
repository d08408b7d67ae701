#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace residua {

class BitReader;

// A stream of independent uniform bits. No word is ever handed out twice. Not for use by two
// threads at a time: each thread has a source of its own.
class BitSource {
 public:
  BitSource() = default;
  BitSource(const BitSource&) = delete;
  BitSource& operator=(const BitSource&) = delete;
  virtual ~BitSource();

  // Overwrites `words` with fresh bits, or throws Error{kEntropy}.
  virtual void Fill(std::span<uint64_t> words) = 0;

 protected:
  // True if words produced earlier may be known to another process as well. They are then thrown
  // away unread.
  virtual bool BufferIsShared() { return false; }

 private:
  friend class BitReader;

  // 16 KB: long enough that a refill's fixed cost (a new cipher key, a fraction of a microsecond)
  // is small beside it, short enough to stay in a 32 KB first-level cache.
  static constexpr size_t kBufferWords = 2048;

  alignas(64) std::array<uint64_t, kBufferWords> buffer_;
  size_t position_ = kBufferWords;  // buffer_[position_..] is fresh
};

// Reads `source` word by word without a virtual call a word. What was read is wiped from the
// source's buffer when the reader is destroyed. One reader at a time on one source.
class BitReader {
 public:
  explicit BitReader(BitSource& source);
  ~BitReader();
  BitReader(const BitReader&) = delete;
  BitReader& operator=(const BitReader&) = delete;

  uint64_t Next() {
    if (position_ == BitSource::kBufferWords) Refill();
    return source_.buffer_[position_++];
  }

  void Read(std::span<uint64_t> words);

  // i with probability 2^-(i+1): the number of zero bits before the first one.
  uint64_t Geometric();

 private:
  void Refill();

  BitSource& source_;
  size_t first_unwiped_;
  size_t position_;
};

// Overwrites memory in a way the compiler does not remove.
void Wipe(void* memory, size_t num_bytes);

}  // namespace residua
