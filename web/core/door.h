#pragma once

#include <cstddef>
#include <cstdint>

#include "residua/text/json_text.h"

namespace residua {

// Answers one call of a page, which may bring bytes beside its JSON. Each page has its own.
Json Call(const Json& request, const uint8_t* bytes, size_t num_bytes);

}  // namespace residua
