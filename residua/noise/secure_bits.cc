#include "residua/noise/secure_bits.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

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

std::atomic<uint64_t> fork_generation{0};

void CountFork() { fork_generation.fetch_add(1, std::memory_order_relaxed); }

void WatchForks() {
  static const int failed = pthread_atfork(nullptr, nullptr, CountFork);
  if (failed != 0) {
    Fail(ErrorKind::kEntropy, "random bits: pthread_atfork failed: {}", std::strerror(failed));
  }
}

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

SecureBits::SecureBits() : cipher_(std::make_unique<Cipher>()) {
  if (cipher_->context == nullptr) {
    Fail(ErrorKind::kEntropy, "random bits: OpenSSL could not allocate a cipher");
  }
  WatchForks();
  // The algorithm is looked up once; later calls change only the key.
  if (EVP_EncryptInit_ex(cipher_->context, EVP_aes_256_ctr(), nullptr, nullptr, nullptr) != 1) {
    Fail(ErrorKind::kEntropy, "random bits: OpenSSL has no AES-256-CTR");
  }
  SeedFromOs();
}

SecureBits::~SecureBits() = default;

void SecureBits::Fill(std::span<uint64_t> words) {
  // The process id catches children made without fork()'s handlers.
  if (BufferIsShared() || getpid() != pid_) SeedFromOs();
  std::span<std::byte> rest = std::as_writable_bytes(words);
  while (!rest.empty()) {
    const std::span<std::byte> part = rest.first(std::min(rest.size(), kBytesPerKey));
    std::array<std::byte, kSeedBytes> next;
    Keystream(next);
    Keystream(part);
    SetKey(next);
    rest = rest.subspan(part.size());
  }
}

bool SecureBits::BufferIsShared() {
  return fork_generation_ != fork_generation.load(std::memory_order_relaxed);
}

void SecureBits::SeedFromOs() {
  const uint64_t generation = fork_generation.load(std::memory_order_relaxed);
  std::array<std::byte, kSeedBytes> seed;
  ReadEntropy(seed, ::getrandom);
  SetKey(seed);
  fork_generation_ = generation;
  pid_ = getpid();
}

// Wipes its argument.
void SecureBits::SetKey(std::span<std::byte> key_and_counter) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(key_and_counter.data());
  const int done = EVP_EncryptInit_ex(cipher_->context, nullptr, nullptr, bytes, bytes + kKeyBytes);
  Wipe(key_and_counter.data(), key_and_counter.size());
  if (done != 1) Fail(ErrorKind::kEntropy, "random bits: OpenSSL refused a key");
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
