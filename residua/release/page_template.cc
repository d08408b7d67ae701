#include "residua/release/page_template.h"

// The file's bytes as they are; RESIDUA_READER_PAGE is its path.
__asm__(
    ".section .rodata\n"
    ".balign 16\n"
    "residua_reader_page_begin:\n"
    ".incbin \"" RESIDUA_READER_PAGE
    "\"\n"
    "residua_reader_page_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char residua_reader_page_begin[];
extern const char residua_reader_page_end[];
}

namespace residua {

std::string_view ReaderPageTemplate() {
  return {residua_reader_page_begin,
          static_cast<size_t>(residua_reader_page_end - residua_reader_page_begin)};
}

}  // namespace residua
