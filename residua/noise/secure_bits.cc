#include "residua/noise/secure_bits.h"

#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "residua/base/error.h"
#include "residua/base/openssl.h"

namespace residua {
namespace {

constexpr size_t kKeyBytes = 32;
constexpr size_t kCounterBytes = 16;
constexpr size_t kSeedBytes = kKeyBytes + kCounterBytes;

// One key serves at most this much: far below the 2^68 bytes at which AES-CTR's lack of repeated
// blocks would show, and within the int that EVP takes.
constexpr size_t kBytesPerKey = size_t{1} << 20;

void Unmap(BitBuffer* buffer) { munmap(buffer, sizeof(BitBuffer)); }

// In pages of its own, because only whole pages can be wiped.
std::unique_ptr<BitBuffer, void (*)(BitBuffer*)> MapBuffer() {
  void* memory =
      mmap(nullptr, sizeof(BitBuffer), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    Fail(ErrorKind::kEntropy, "random bits: no memory for them: {}", std::strerror(errno));
  }
  return {new (memory) BitBuffer, Unmap};
}

// Key and counter of a cipher.
using Seed = WipedBytes<kSeedBytes>;

}  // namespace

struct SecureBits::Cipher {
  Cipher() {
    KeepOpenSsl();
    context = EVP_CIPHER_CTX_new();
  }
  ~Cipher() { EVP_CIPHER_CTX_free(context); }  // OpenSSL wipes the key schedule
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;

  EVP_CIPHER_CTX* context = nullptr;
};

SecureBits::SecureBits(ForkGuard guard)
    : BitSource(MapBuffer()), cipher_(std::make_unique<Cipher>()), guard_(guard) {
  if (cipher_->context == nullptr) {
    Fail(ErrorKind::kEntropy, "random bits: OpenSSL could not allocate a cipher");
  }
  if (guard == ForkGuard::kWipedMemory &&
      madvise(&buffer(), sizeof(BitBuffer), MADV_WIPEONFORK) != 0) {
    guard_ = ForkGuard::kProcessId;
  }
  // The algorithm is looked up once; later calls change only the key.
  if (EVP_EncryptInit_ex(cipher_->context, EVP_aes_256_ctr(), nullptr, nullptr, nullptr) != 1) {
    Fail(ErrorKind::kEntropy, "random bits: OpenSSL has no AES-256-CTR");
  }
  SeedFromOs();
}

SecureBits::~SecureBits() = default;

void SecureBits::Fill(std::span<uint64_t> words) {
  if (BufferIsShared()) SeedFromOs();
  std::span<std::byte> rest = std::as_writable_bytes(words);
  while (!rest.empty()) {
    const std::span<std::byte> part = rest.first(std::min(rest.size(), kBytesPerKey));
    Seed next;
    Keystream(next.bytes);
    Keystream(part);
    SetKey(next.bytes);
    rest = rest.subspan(part.size());
  }
}

bool SecureBits::BufferIsShared() {
  return guard_ == ForkGuard::kWipedMemory ? !buffer().is_marked : getpid() != pid_;
}

void SecureBits::SeedFromOs() {
  Seed seed;
  ReadEntropy(seed.bytes, ::getrandom);
  SetKey(seed.bytes);
  buffer().is_marked = true;
  pid_ = getpid();
}

void SecureBits::SetKey(std::span<const std::byte> key_and_counter) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(key_and_counter.data());
  if (EVP_EncryptInit_ex(cipher_->context, nullptr, nullptr, bytes, bytes + kKeyBytes) != 1) {
    Fail(ErrorKind::kEntropy, "random bits: OpenSSL refused a key");
  }
}

void SecureBits::Keystream(std::span<std::byte> out) {
  auto* bytes = reinterpret_cast<unsigned char*>(out.data());
  std::memset(bytes, 0, out.size());
  int written = 0;
  const int size = static_cast<int>(out.size());
  if (EVP_EncryptUpdate(cipher_->context, bytes, &written, bytes, size) != 1 || written != size) {
    Fail(ErrorKind::kEntropy, "random bits: AES-256-CTR failed after {} of {} bytes", written,
         size);
  }
}

SecureBits& ThreadSecureBits() {
  thread_local SecureBits bits;
  return bits;
}

void ReadEntropy(std::span<std::byte> out, GetRandom* source) {
  while (!out.empty()) {
    const ssize_t count = source(out.data(), out.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || static_cast<size_t>(count) > out.size()) {
      Fail(ErrorKind::kEntropy, "random bits: getrandom failed: {}",
           count < 0 ? std::strerror(errno) : "no bytes came");
    }
    out = out.subspan(static_cast<size_t>(count));
  }
}

}  // namespace residua
