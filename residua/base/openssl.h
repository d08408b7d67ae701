#pragma once

namespace residua {

// Call this before OpenSSL is used: it keeps OpenSSL until the process ends, unless the program has
// set it up otherwise. By default OpenSSL cleans up when main returns, but threads of a pool that
// end later still free their ciphers.
void KeepOpenSsl();

}  // namespace residua
