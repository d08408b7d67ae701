#pragma once

namespace residua {

// To be called before OpenSSL is used: it then stays until the process is gone, unless the program
// has set it up otherwise. It would go when main returns, and threads of a pool that end after that
// still give their ciphers back.
void KeepOpenSsl();

}  // namespace residua
