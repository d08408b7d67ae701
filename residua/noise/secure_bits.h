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
// nothing about bits already used.
//
// Parent and child never share a bit, however the child was made: fork(), _Fork() and clone() call
// no handlers, or not all of them. The buffer lies in memory that the kernel fills with zeros in a
// child (MADV_WIPEONFORK), so that the child finds no words and no mark that a key was drawn, and
// draws a key of its own. On a kernel without it (Linux before 4.14), the process id is compared
// whenever a reader is made or bits are filled in.
class SecureBits final : public BitSource {
 public:
  // How a child is told from its parent: by kWipedMemory wherever the kernel offers it.
  enum class ForkGuard { kWipedMemory, kProcessId };

  explicit SecureBits(ForkGuard guard = ForkGuard::kWipedMemory);
  ~SecureBits() override;

  void Fill(std::span<uint64_t> words) override;

 protected:
  bool BufferIsShared() override;

 private:
  struct Cipher;

  void SeedFromOs();
  void SetKey(std::span<const std::byte> key_and_counter);
  void Keystream(std::span<std::byte> out);

  std::unique_ptr<Cipher> cipher_;
  ForkGuard guard_;
  pid_t pid_ = 0;  // of the process that drew the key
};

// This thread's own source, keyed on first use.
SecureBits& ThreadSecureBits();

// Like getrandom(2).
using GetRandom = ssize_t(void* buffer, size_t size, unsigned flags);

// Fills `out` from `source`, through interruptions and short reads; any failure is Error{kEntropy}.
void ReadEntropy(std::span<std::byte> out, GetRandom* source);

}  // namespace residua
