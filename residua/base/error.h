#pragma once

#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace residua {

// What went wrong, as far as a caller would act on it differently. `kRefused` is for privacy and
// safety: the request is well formed and will not be carried out. `kStopped`: the caller asked for
// it.
enum class ErrorKind { kBadInput, kTooLarge, kIo, kRefused, kEntropy, kStopped, kBroken };

// Control characters, line breaks among them, as \x0a: names and values from files may hold any.
std::string WithoutControls(std::string_view text);

// The only exception type residua throws on purpose. `what()` is one line that names the file, the
// key or the parameter, and the remedy.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string_view message)
      : std::runtime_error(WithoutControls(message)), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// The message of any exception, in words: memory that ran out says so.
inline std::string MessageOf(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return "not enough memory; ask for fewer or smaller tables";
  }
  return error.what();
}

template <typename... Args>
[[noreturn]] void Fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

// A broken invariant is a bug in residua, and is checked in release builds: a wrong release is
// worse than none.
#define RESIDUA_CHECK(condition)                                                          \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      ::residua::Fail(::residua::ErrorKind::kBroken, "internal check failed: {} ({}:{})", \
                      #condition, __FILE__, __LINE__);                                    \
    }                                                                                     \
  } while (false)

}  // namespace residua
