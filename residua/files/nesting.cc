#include "residua/files/nesting.h"

#include <algorithm>

#include "residua/base/error.h"

namespace residua {
namespace {

// A plan has five levels, and three more for each combination that it is a part of (kMostNested); a
// hierarchy of 16 would have 65,536 leaves if each group were two.
constexpr int kMaxJsonLevels = 128;
constexpr int kMaxKeyParts = 16;

// Where the text in quotes that begins at `at` ends: at its last quote, or before a line break.
size_t EndOfQuoted(std::string_view text, size_t at, bool has_escapes) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    if (has_escapes && text[at] == '\\') ++at;
  }
  return at;
}

}  // namespace

void CheckJsonNesting(std::string_view text) {
  int level = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = EndOfQuoted(text, at, /*has_escapes=*/true);
    if (c == '[' || c == '{') ++level;
    if (c == ']' || c == '}') --level;
    if (level > kMaxJsonLevels) {
      Fail(ErrorKind::kBadInput,
           "lists within lists are more than {} levels deep; residua wrote no such file",
           kMaxJsonLevels);
    }
  }
}

void CheckTomlKeys(std::string_view text) {
  constexpr std::string_view kEndsOfKeys = "=,[]{}\n";
  int num_parts = 1;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#') at = std::min(text.find('\n', at), text.size() - 1);
    if (c == '"' || c == '\'') at = EndOfQuoted(text, at, c == '"');
    if (c == '.') ++num_parts;
    if (at >= text.size() || kEndsOfKeys.find(text[at]) != kEndsOfKeys.npos) num_parts = 1;
    if (num_parts > kMaxKeyParts) {
      Fail(ErrorKind::kBadInput,
           "line {}: a key has more than {} parts with dots between; use fewer",
           1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'),
           kMaxKeyParts);
    }
  }
}

}  // namespace residua
