#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace residua {

// Error{kBadInput} unless a file's format version, nothing if it is no number, is one of those
// known here, from `first` to `last`. `what` is the file and its kind. docs/formats.md says what a
// format version promises.
void CheckFormatVersion(std::string_view what, std::optional<int64_t> found, int64_t first,
                        int64_t last);

}  // namespace residua
