#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "residua/base/error.h"

namespace residua {

// "sha256:" and 64 hexadecimal digits. It shows that a file was changed or cut, by accident or by
// someone who did not care to recompute it; it is no signature.
std::string Sha256(std::string_view text);

// The same of what is added piece by piece.
class RunningSha256 {
 public:
  RunningSha256();
  RunningSha256(RunningSha256&&) noexcept;
  ~RunningSha256();

  void Add(std::string_view bytes);
  // Of all that was added since the last digest was taken.
  std::string Take();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Error{kRefused} about a file that does not fit its digests; `what` is the first thing that shows
// it.
[[noreturn]] inline void FailChanged(const std::filesystem::path& path, std::string_view what) {
  Fail(ErrorKind::kRefused, "{}: {}; the file was changed or is not whole", path.string(), what);
}

}  // namespace residua
