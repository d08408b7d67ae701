#include "residua/base/toml_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace residua {
namespace {

// Whether TOML takes `name` as a key without quotes.
bool IsBareTomlKey(std::string_view name) {
  const auto is_bare = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_bare);
}

}  // namespace

std::string TomlString(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string TomlKey(std::string_view name) {
  return IsBareTomlKey(name) ? std::string(name) : TomlString(name);
}

}  // namespace residua
