#include "residua/base/error.h"

#include <gtest/gtest.h>

namespace residua {
namespace {

TEST(ErrorTest, MessagesAreOneLine) {
  const Error error(ErrorKind::kBadInput, std::string_view("a\nb\tc\x7f\0d", 8));
  EXPECT_STREQ(error.what(), "a\\x0ab\\x09c\\x7f\\x00d");
  EXPECT_STREQ(Error(ErrorKind::kIo, "naïve \\ 'q'").what(), "naïve \\ 'q'") << "all else stays";
}

}  // namespace
}  // namespace residua
