#include "residua/measure/encoded_table.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "tests/measure/random_table.h"

namespace residua {
namespace {

using Bytes = std::vector<uint8_t>;
using Words = std::vector<uint16_t>;
using Longs = std::vector<uint32_t>;

std::string MessageOf(const Domain& domain, std::vector<CodeColumn> columns) {
  try {
    const EncodedTable table(domain, std::move(columns));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(EncodedTable, TakesTheNarrowestCodes) {
  const Domain domain = DomainOfSizes({256, 257, 65536, 65537});
  EXPECT_TRUE(std::holds_alternative<Bytes>(EmptyCodeColumn(domain[0])));
  EXPECT_TRUE(std::holds_alternative<Words>(EmptyCodeColumn(domain[1])));
  EXPECT_TRUE(std::holds_alternative<Words>(EmptyCodeColumn(domain[2])));
  EXPECT_TRUE(std::holds_alternative<Longs>(EmptyCodeColumn(domain[3])));
  const EncodedTable table(domain,
                           {Bytes{255, 0}, Words{256, 0}, Words{65535, 0}, Longs{65536, 0}});
  EXPECT_EQ(table.num_rows(), 2);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(CodeBytes(domain[i]), i == 0 ? 1 : i == 3 ? 4 : 2);
}

TEST(EncodedTable, RefusesAttributesTooLargeToCode) {
  const Domain domain = DomainOfSizes({16777217});
  try {
    EmptyCodeColumn(domain[0]);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kTooLarge);
    EXPECT_STREQ(
        error.what(),
        "attribute 'a0' has 16777217 cells; at most 16777216 can be counted: give it wider cuts or "
        "fewer values");
  }
}

TEST(EncodedTable, RefusesWhatWouldIndexOutsideAMarginal) {
  const Domain domain = DomainOfSizes({3, 300});
  EXPECT_EQ(MessageOf(domain, {Bytes{0, 2}, Words{299, 0}}), "");
  EXPECT_EQ(MessageOf(domain, {Bytes{0, 3}, Words{299, 0}}),
            "attribute 'a0' has the code 3; its codes run from 0 to 2");
  EXPECT_EQ(MessageOf(domain, {Bytes{0, 2}, Words{300, 0}}),
            "attribute 'a1' has the code 300; its codes run from 0 to 299");
  EXPECT_EQ(MessageOf(domain, {Bytes{0, 2}, Words{299}}),
            "attribute 'a1' has 1 codes and attribute 'a0' 2");
  EXPECT_EQ(MessageOf(domain, {Words{0, 2}, Words{299, 0}}),
            "the codes of attribute 'a0' have the wrong width for 3 codes");
  EXPECT_EQ(MessageOf(domain, {Bytes{0, 2}}),
            "the table has 1 columns and its domain 2 attributes");
}

}  // namespace
}  // namespace residua
