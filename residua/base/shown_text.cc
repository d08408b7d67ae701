#include "residua/base/shown_text.h"

#include "residua/base/error.h"

namespace residua {

std::string ShownText(std::string_view text) {
  constexpr size_t kMaxShown = 60;  // enough to recognise the value
  std::string shown;
  for (const char c : text) {
    // Not in the middle of a UTF-8 character.
    if (shown.size() >= kMaxShown && (static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      return shown + "...";
    }
    shown += WithoutControls({&c, 1});
  }
  return shown;
}

}  // namespace residua
