#include "residua/base/shown_text.h"

#include <gtest/gtest.h>

namespace residua {
namespace {

TEST(ShownText, StaysOnOneShortLine) {
  EXPECT_EQ(ShownText("a\tb\n"), "a\\x09b\\x0a");
  EXPECT_EQ(ShownText(std::string(100, 'x')), std::string(60, 'x') + "...");
}

}  // namespace
}  // namespace residua
