#include "residua/base/openssl.h"

#include <openssl/crypto.h>

#include "residua/base/error.h"

namespace residua {

void KeepOpenSsl() {
  static const bool is_ready = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;
  if (!is_ready) Fail(ErrorKind::kEntropy, "OpenSSL cannot be started");
}

}  // namespace residua
