#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace residua {

inline constexpr size_t kSealingKeyBytes = 32;
inline constexpr size_t kFingerprintBytes = 32;
// What sealing adds to the bytes that are sealed: a nonce and a tag.
inline constexpr size_t kSealBytes = 12 + 16;

// A secret that those who work on one measurement share, and nobody else.
using SealingKey = std::array<uint8_t, kSealingKeyBytes>;
// From the operating system's entropy.
SealingKey DrawSealingKey();

// Encrypts and authenticates `plain` (AES-256-GCM, under a random nonce), and authenticates
// `context`, which is not part of the result. One key seals at most 2^32 times.
std::string Seal(const SealingKey& key, std::string_view context, std::string_view plain);

// What was sealed under the same key with the same context. Error{kRefused} for anything else.
std::string Unseal(const SealingKey& key, std::string_view context, std::string_view sealed);

using Fingerprint = std::array<uint8_t, kFingerprintBytes>;

// A pseudorandom function of what is added (HMAC-SHA-256): without the key it tells nothing.
class KeyedHash {
 public:
  explicit KeyedHash(const SealingKey& key);
  KeyedHash(const KeyedHash&) = delete;
  KeyedHash& operator=(const KeyedHash&) = delete;
  ~KeyedHash();

  void Add(std::string_view bytes);
  void Add(int64_t number);
  // Of all that was added since the last one was taken.
  Fingerprint Take();

 private:
  void* context_;  // OpenSSL's
};

// A key for another purpose, which tells nothing about `key`.
SealingKey DerivedKey(const SealingKey& key, std::string_view purpose);

}  // namespace residua
