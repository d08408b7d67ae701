#include "residua/draft/check_spec.h"

#include <gtest/gtest.h>

#include "tests/fixtures/folder_test.h"

namespace residua {
namespace {

class CheckSpecTest : public FolderTest {
 protected:
  static SpecCheck Check(const std::string& age) {
    const Spec spec = ParseSpec(
        "[data]\nsource = \"p.csv\"\n[privacy]\nrho = 1\n[attributes.age]\nintegers = [0, 9]\n" +
            age + "[workload]\nmarginals = \"<=1\"\n",
        "spec.toml");
    return CheckSpec(spec, "spec.toml", {"p.csv", "", ""});
  }
};

TEST_F(CheckSpecTest, DataThatFitsHasNoObstacle) {
  Write("p.csv", "age\n3\n12\n");
  const SpecCheck check = Check("outside = \"clamp\"\n");
  EXPECT_TRUE(check.obstacles.empty());
  EXPECT_EQ(check.report.num_rows_read, 2);
  EXPECT_EQ(check.report.attributes[0].num_outside, 1);
  EXPECT_GT(check.memory_bytes, 0);
  EXPECT_GT(check.seconds, 0);
}

TEST_F(CheckSpecTest, EveryObstacleIsListed) {
  Write("p.csv", "age\n3\n12\n");
  const SpecCheck check = Check("check = \"read from the data\"\n");
  ASSERT_EQ(check.obstacles.size(), 2u);
  EXPECT_TRUE(
      std::string(check.obstacles[0].what()).starts_with("p.csv: column 'age' has the value 12"))
      << check.obstacles[0].what();
  EXPECT_EQ(PlainWords(check.obstacles[1].place()), "spec.toml");
  EXPECT_FALSE(check.obstacles[1].remedy().empty());
}

}  // namespace
}  // namespace residua
