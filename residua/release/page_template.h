#pragma once

#include <string_view>

namespace residua {

// web/dist/reader.html: the page without a release. It is part of the library, so that nobody needs
// what it is built with.
std::string_view ReaderPageTemplate();

}  // namespace residua
