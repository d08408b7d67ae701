#include "residua/measure/remote/sealed_bytes.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <sys/random.h>

#include <cstring>
#include <limits>
#include <memory>

#include "residua/base/error.h"
#include "residua/base/openssl.h"
#include "residua/noise/secure_bits.h"

namespace residua {
namespace {

constexpr size_t kNonceBytes = 12;
constexpr size_t kTagBytes = 16;
static_assert(kNonceBytes + kTagBytes == kSealBytes);

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)>;

CipherContext NewCipherContext() {
  KeepOpenSsl();
  CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  if (context == nullptr) Fail(ErrorKind::kEntropy, "OpenSSL could not allocate a cipher");
  return context;
}

void CheckSealed(int result) {
  if (result != 1) Fail(ErrorKind::kEntropy, "OpenSSL could not encrypt with AES-256-GCM");
}

const uint8_t* BytesOf(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}
uint8_t* BytesOf(std::string& text, size_t offset) {
  return reinterpret_cast<uint8_t*>(text.data() + offset);
}

// EVP counts in int.
int LengthOf(std::string_view text) {
  RESIDUA_CHECK(text.size() <= std::numeric_limits<int>::max() / 2);
  return static_cast<int>(text.size());
}

}  // namespace

SealingKey DrawSealingKey() {
  SealingKey key;
  ReadEntropy(std::as_writable_bytes(std::span(key)), &getrandom);
  return key;
}

std::string Seal(const SealingKey& key, std::string_view context, std::string_view plain) {
  std::string sealed(kNonceBytes + plain.size() + kTagBytes, '\0');
  ReadEntropy(std::as_writable_bytes(std::span(sealed).first(kNonceBytes)), &getrandom);
  const CipherContext cipher = NewCipherContext();
  int length = 0;
  CheckSealed(
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(), BytesOf(sealed, 0)));
  CheckSealed(
      EVP_EncryptUpdate(cipher.get(), nullptr, &length, BytesOf(context), LengthOf(context)));
  CheckSealed(EVP_EncryptUpdate(cipher.get(), BytesOf(sealed, kNonceBytes), &length, BytesOf(plain),
                                LengthOf(plain)));
  RESIDUA_CHECK(static_cast<size_t>(length) == plain.size());
  uint8_t* tag = BytesOf(sealed, kNonceBytes + plain.size());
  CheckSealed(EVP_EncryptFinal_ex(cipher.get(), tag, &length));
  CheckSealed(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, tag));
  return sealed;
}

std::string Unseal(const SealingKey& key, std::string_view context, std::string_view sealed) {
  constexpr auto kProblem = "sealed bytes were changed, or belong to another measurement";
  if (sealed.size() < kSealBytes) Fail(ErrorKind::kRefused, kProblem);
  const std::string_view body = sealed.substr(kNonceBytes, sealed.size() - kSealBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string plain(body.size(), '\0');
  const CipherContext cipher = NewCipherContext();
  int length = 0;
  CheckSealed(
      EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(), BytesOf(sealed)));
  CheckSealed(
      EVP_DecryptUpdate(cipher.get(), nullptr, &length, BytesOf(context), LengthOf(context)));
  CheckSealed(
      EVP_DecryptUpdate(cipher.get(), BytesOf(plain, 0), &length, BytesOf(body), LengthOf(body)));
  CheckSealed(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()));
  uint8_t nothing[EVP_MAX_BLOCK_LENGTH];
  if (EVP_DecryptFinal_ex(cipher.get(), nothing, &length) != 1) {
    Fail(ErrorKind::kRefused, kProblem);
  }
  return plain;
}

KeyedHash::KeyedHash(const SealingKey& key) {
  KeepOpenSsl();
  EVP_MAC* algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  EVP_MAC_CTX* context = EVP_MAC_CTX_new(algorithm);
  EVP_MAC_free(algorithm);
  context_ = context;
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  if (context == nullptr || EVP_MAC_init(context, key.data(), key.size(), parameters) != 1) {
    EVP_MAC_CTX_free(context);
    Fail(ErrorKind::kEntropy, "OpenSSL has no HMAC-SHA-256");
  }
}

KeyedHash::~KeyedHash() { EVP_MAC_CTX_free(static_cast<EVP_MAC_CTX*>(context_)); }

void KeyedHash::Add(std::string_view bytes) {
  RESIDUA_CHECK(EVP_MAC_update(static_cast<EVP_MAC_CTX*>(context_), BytesOf(bytes), bytes.size()) ==
                1);
}

void KeyedHash::Add(int64_t number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  Add(std::string_view(bytes, sizeof(bytes)));
}

Fingerprint KeyedHash::Take() {
  auto* context = static_cast<EVP_MAC_CTX*>(context_);
  Fingerprint fingerprint;
  size_t length = 0;
  RESIDUA_CHECK(EVP_MAC_final(context, fingerprint.data(), &length, fingerprint.size()) == 1 &&
                length == fingerprint.size());
  // Begins again under the same key.
  RESIDUA_CHECK(EVP_MAC_init(context, nullptr, 0, nullptr) == 1);
  return fingerprint;
}

SealingKey DerivedKey(const SealingKey& key, std::string_view purpose) {
  KeyedHash hash(key);
  hash.Add(purpose);
  return hash.Take();
}

}  // namespace residua
