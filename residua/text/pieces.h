#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace residua {

// Pieces of what people type. Spaces around a piece do not count.
std::string_view Trim(std::string_view text);
std::vector<std::string_view> Split(std::string_view text, char separator);
// "left SEPARATOR right" at the last separator. Without a separator there is no right part.
std::pair<std::string_view, std::optional<std::string_view>> Cut(std::string_view text,
                                                                 char separator);

}  // namespace residua
