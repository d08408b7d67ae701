#include "residua/files/nesting.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "residua/files/plan_file.h"

namespace residua {
namespace {

std::string Repeated(std::string_view text, int count) {
  std::string repeated;
  for (int k = 0; k < count; ++k) repeated += text;
  return repeated;
}

TEST(NestingTest, JsonMayBeAsDeepAsOurFiles) {
  EXPECT_NO_THROW(CheckJsonNesting(Repeated("[", 128) + Repeated("]", 128)));
  EXPECT_THROW(CheckJsonNesting(Repeated("[", 129)), Error);
  EXPECT_THROW(CheckJsonNesting(Repeated("{\"a\":", 129)), Error);
  EXPECT_NO_THROW(CheckJsonNesting(Repeated("[],{}", 1000))) << "beside each other";
  EXPECT_NO_THROW(CheckJsonNesting("\"" + Repeated("[", 1000) + "\"")) << "in a text";
  EXPECT_THROW(CheckJsonNesting(R"("\"",)" + Repeated("[", 129)), Error) << "after a text";
}

TEST(NestingTest, TomlKeysMayHaveAFewParts) {
  EXPECT_NO_THROW(CheckTomlKeys("[attributes.region.hierarchy.north]\na.b.c.d = 1"));
  EXPECT_NO_THROW(CheckTomlKeys("cuts = [" + Repeated("0.5, ", 1000) + "1.5]"));
  EXPECT_NO_THROW(CheckTomlKeys("query = '" + Repeated("a.", 1000) + "'"));
  EXPECT_NO_THROW(CheckTomlKeys("# " + Repeated(".", 1000) + "\na = 1"));
  EXPECT_THROW(CheckTomlKeys(Repeated("a.", 16) + "a = 1"), Error);
  EXPECT_THROW(CheckTomlKeys("x = { " + Repeated("\",\" . ", 16) + "a = 1 }"), Error);
  EXPECT_THROW(CheckTomlKeys("[a]\n[" + Repeated("a.", 16) + "a]"), Error);
}

// Both took all of the stack before.
TEST(NestingTest, DeepFilesAreRefused) {
  const int depth = 200'000;
  const std::string plan = R"({"format":"residua-plan","version":1,"digest":"","data":)" +
                           Repeated("[", depth) + Repeated("]", depth) + "}";
  EXPECT_THROW(PlanFromJson(plan, "plan.json"), Error);
  EXPECT_THROW(ParseSpec("[attributes]\n" + Repeated("a.", depth) + "a = 1", "spec.toml"), Error);
}

}  // namespace
}  // namespace residua
