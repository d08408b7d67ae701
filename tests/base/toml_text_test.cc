#include "residua/base/toml_text.h"

#include <gtest/gtest.h>

namespace residua {
namespace {

TEST(TomlTextTest, QuotesKeysThatNeedIt) {
  EXPECT_EQ(TomlKey("net_income-2"), "net_income-2");
  EXPECT_EQ(TomlKey("net income"), "\"net income\"");
  EXPECT_EQ(TomlKey(""), "\"\"");
  EXPECT_EQ(TomlString("a\"\\\n\t\r\x7f"), "\"a\\\"\\\\\\n\\t\\u000D\\u007F\"");
}

}  // namespace
}  // namespace residua
