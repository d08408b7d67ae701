#include "residua/release/page_template.h"

// The files' bytes as they are; RESIDUA_PAGES is the folder they are in.
#define RESIDUA_PAGE_BYTES(name)          \
  __asm__(                                \
      ".section .rodata\n"                \
      ".balign 16\n"                      \
      "residua_" name                     \
      "_page_begin:\n"                    \
      ".incbin \"" RESIDUA_PAGES "/" name \
      ".html\"\n"                         \
      "residua_" name                     \
      "_page_end:\n"                      \
      ".byte 0\n"                         \
      ".previous\n")

RESIDUA_PAGE_BYTES("reader");
RESIDUA_PAGE_BYTES("planner");

extern "C" {
extern const char residua_reader_page_begin[];
extern const char residua_reader_page_end[];
extern const char residua_planner_page_begin[];
extern const char residua_planner_page_end[];
}

namespace residua {
namespace {

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string_view ReaderPageTemplate() {
  return Between(residua_reader_page_begin, residua_reader_page_end);
}

std::string_view PlannerPageTemplate() {
  return Between(residua_planner_page_begin, residua_planner_page_end);
}

}  // namespace residua
