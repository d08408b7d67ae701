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

// Ada has four rows, bob two, eve one; a row without a name and one with an age outside are left
// out before that.
TEST_F(CheckSpecTest, CountsTheRowsThatAMaxRowsKeeps) {
  Write("p.csv", "who,age\nada,1\nada,2\nbob,3\nada,4\nada,5\nbob,6\neve,7\n,8\neve,77\n");
  const Spec spec = ParseSpec(
      "[data]\nsource = \"p.csv\"\n[privacy]\nrho = 1\nidentifier = \"who\"\nmax_rows = 3\n"
      "[attributes.age]\nintegers = [0, 9]\noutside = \"drop\"\n[workload]\nmarginals = 1\n",
      "spec.toml");
  const ReadReport report = CheckSpec(spec, "spec.toml", {"p.csv", "", ""}).report;
  EXPECT_EQ(report.identifiers_by_rows, (std::map<int64_t, int64_t>{{1, 1}, {2, 1}, {4, 1}}));
  EXPECT_EQ(NumRowsCounted(report), 6);
  EXPECT_EQ(RowsKeptByMaxRows(report, 3), (std::vector<RowsKept>{{1, 3}, {2, 5}, {3, 6}, {5, 7}}));
  EXPECT_EQ(RowsKeptByMaxRows(report, 100),
            (std::vector<RowsKept>{{1, 3}, {2, 5}, {5, 7}, {100, 7}}));
  EXPECT_TRUE(RowsKeptByMaxRows({}, 1).empty());
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
