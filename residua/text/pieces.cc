#include "residua/text/pieces.h"

namespace residua {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t at = text.find(separator);
    parts.push_back(Trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::pair<std::string_view, std::optional<std::string_view>> Cut(std::string_view text,
                                                                 char separator) {
  const size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return {text, std::nullopt};
  return {Trim(text.substr(0, at)), Trim(text.substr(at + 1))};
}

}  // namespace residua
