#pragma once

#include <string_view>

namespace residua {

// web/dist/reader.html, the page without a release, and web/dist/planner.html, the page without a
// spec. They are part of the library, so that nobody needs what they are built with.
std::string_view ReaderPageTemplate();
std::string_view PlannerPageTemplate();

}  // namespace residua
