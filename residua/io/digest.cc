#include "residua/io/digest.h"

#include <fmt/format.h>
#include <openssl/sha.h>

namespace residua {

std::string Sha256(std::string_view text) {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash);
  std::string hex = "sha256:";
  for (const unsigned char byte : hash) hex += fmt::format("{:02x}", byte);
  return hex;
}

}  // namespace residua
