#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "residua/noise/bit_source.h"

namespace residua {

// Cryptographic bits: the keystream of AES-256-CTR (OpenSSL), under a key from the operating
// system. Fast key erasure (Bernstein, 2017): the first 48 bytes of each key's stream are the next
// key and counter, and the old key is forgotten, so that whoever reads this process's memory learns
// nothing about bits already used. After fork() the child draws a new key and discards what was
// buffered, so that parent and child never share a bit.
class SecureBits final : public BitSource {
 public:
  SecureBits();
  ~SecureBits() override;

  void Fill(std::span<uint64_t> words) override;

 protected:
  bool BufferIsShared() override;

 private:
  struct Cipher;

  void SeedFromOs();
  void SetKey(std::span<std::byte> key_and_counter);
  void Keystream(std::span<std::byte> out);

  std::unique_ptr<Cipher> cipher_;
  uint64_t fork_generation_ = 0;
  pid_t pid_ = 0;
};

// This thread's own source, keyed on first use.
SecureBits& ThreadSecureBits();

// As getrandom(2).
using GetRandom = ssize_t(void* buffer, size_t size, unsigned flags);

// Fills `out` from `source`, through interruptions and short reads; any failure is Error{kEntropy}.
void ReadEntropy(std::span<std::byte> out, GetRandom* source);

}  // namespace residua
