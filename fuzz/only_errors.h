#pragma once

#include <cstdint>
#include <string_view>

#include "residua/base/error.h"

namespace residua {

// Runs `read` on an input of the fuzzer. A reader may refuse what it is given with an Error whose
// message is one printable line and which does not report a broken invariant. Any other exception
// stops the fuzzer.
template <typename Read>
void ExpectOnlyErrors(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBroken) throw;
    const std::string_view message = error.what();
    RESIDUA_CHECK(!message.empty());
    for (const char c : message) {
      if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) continue;
      Fail(ErrorKind::kBroken, "this message is not one line: {}", message);
    }
  }
}

inline std::string_view TextOfInput(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace residua
