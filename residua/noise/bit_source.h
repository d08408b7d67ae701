#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace residua {

class BitReader;

// Words that a source has ready: the last `num_fresh` of them were not handed out yet. A buffer of
// zeros is empty, so that memory which the kernel empties in a forked child (SecureBits) never
// hands out a word twice.
struct BitBuffer {
  // 16 KB: long enough that a refill's fixed cost (a new cipher key, a fraction of a microsecond)
  // is small beside it, short enough to stay in a 32 KB first-level cache.
  static constexpr size_t kNumWords = 2048;

  alignas(64) std::array<uint64_t, kNumWords> words;
  size_t num_fresh = 0;
  bool is_marked = false;  // for the source's own use
};

// A stream of independent uniform bits. No word is ever handed out twice. Not for use by two
// threads at a time: each thread has a source of its own.
class BitSource {
 public:
  BitSource();
  BitSource(const BitSource&) = delete;
  BitSource& operator=(const BitSource&) = delete;
  virtual ~BitSource();

  // Overwrites `words` with fresh bits, or throws Error{kEntropy}.
  virtual void Fill(std::span<uint64_t> words) = 0;

 protected:
  using Buffer = std::unique_ptr<BitBuffer, void (*)(BitBuffer*)>;

  // With a buffer in memory that the subclass has chosen.
  explicit BitSource(Buffer buffer);

  // True if words produced earlier may be known to another process as well. They are then thrown
  // away unread.
  virtual bool BufferIsShared() { return false; }

  BitBuffer& buffer() { return *buffer_; }

 private:
  friend class BitReader;

  Buffer buffer_;
};

// Reads `source` word by word without a virtual call per word. What was read is wiped from the
// source's buffer when the reader is destroyed. One reader at a time on one source.
class BitReader {
 public:
  explicit BitReader(BitSource& source);
  ~BitReader();
  BitReader(const BitReader&) = delete;
  BitReader& operator=(const BitReader&) = delete;

  uint64_t Next() {
    if (buffer_.num_fresh == 0) Refill();
    return buffer_.words[BitBuffer::kNumWords - buffer_.num_fresh--];
  }

  void Read(std::span<uint64_t> words);

  // i with probability 2^-(i+1): the number of zero bits before the first one.
  uint64_t Geometric();

 private:
  void Refill();

  BitSource& source_;
  BitBuffer& buffer_;
  size_t first_unwiped_;
};

// Overwrites memory in a way the compiler does not remove.
void Wipe(void* memory, size_t num_bytes);

// A secret that is wiped when it goes out of scope, by an exception as well.
template <size_t kNumBytes>
struct WipedBytes {
  WipedBytes() = default;
  ~WipedBytes() { Wipe(bytes.data(), kNumBytes); }
  WipedBytes(const WipedBytes&) = delete;
  WipedBytes& operator=(const WipedBytes&) = delete;

  std::array<std::byte, kNumBytes> bytes;
};

}  // namespace residua
