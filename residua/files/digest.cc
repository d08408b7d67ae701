#include "residua/files/digest.h"

#include <fmt/core.h>
#include <openssl/evp.h>

#include "residua/base/error.h"
#include "residua/base/openssl.h"

namespace residua {

struct RunningSha256::State {
  State() : context(EVP_MD_CTX_new()) { Start(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
  void Start() {
    RESIDUA_CHECK(context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1);
  }

  EVP_MD_CTX* context;
};

RunningSha256::RunningSha256() {
  KeepOpenSsl();
  state_ = std::make_unique<State>();
}
RunningSha256::RunningSha256(RunningSha256&&) noexcept = default;
RunningSha256::~RunningSha256() = default;

void RunningSha256::Add(std::string_view bytes) {
  RESIDUA_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string RunningSha256::Take() {
  unsigned char hash[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  RESIDUA_CHECK(EVP_DigestFinal_ex(state_->context, hash, &size) == 1);
  state_->Start();
  std::string hex = "sha256:";
  for (unsigned k = 0; k < size; ++k) hex += fmt::format("{:02x}", hash[k]);
  return hex;
}

std::string Sha256(std::string_view text) {
  RunningSha256 digest;
  digest.Add(text);
  return digest.Take();
}

}  // namespace residua
