#pragma once

#include <string>
#include <string_view>

#include "residua/text/json_text.h"

namespace residua {

// JSON that ends no element of a page, whatever its texts are.
std::string InPage(const Json& json);

// The page `html` with its title, which is plain text, and `content`, which is HTML, in the place
// of its two marks. It has each once.
std::string FilledTemplate(std::string_view html, std::string_view title, std::string_view content);

}  // namespace residua
