#include "residua/files/digest.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include "residua/base/error.h"
#include "residua/base/openssl.h"

namespace residua {

std::string Sha256(std::string_view text) {
  KeepOpenSsl();
  unsigned char hash[SHA256_DIGEST_LENGTH];
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  RESIDUA_CHECK(SHA256(bytes, text.size(), hash) != nullptr);
  std::string hex = "sha256:";
  for (const unsigned char byte : hash) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace residua
