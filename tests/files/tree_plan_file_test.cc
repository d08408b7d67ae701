#include <gtest/gtest.h>

#include <random>

#include "residua/select/select.h"
#include "tests/basis/tree_examples.h"
#include "tests/files/forged_plan.h"

namespace residua {
namespace {

// `num_groups` of different sizes: more than 400 blocks are kept as a tree of groups.
PlanFile TreePlanFile(int num_groups) {
  std::vector<int64_t> sizes;
  for (int k = 0; k < num_groups; ++k) sizes.push_back(2 + k % 7 * 3);
  Attribute place = TwoLevels(sizes, 2);
  place.name = "place";
  const std::vector<Attribute> attributes = {place, {.name = "sex", .size = 3}};
  return {
      Select({Domain(attributes), {{{MarginalRule::Kind::kUpTo, 2}}, {}}, {}, BudgetFromPcost(1)}),
      {}};
}

TEST(TreePlanFileTest, ReadsBackIdentical) {
  for (const int num_groups : {20, 410}) {
    const PlanFile file = TreePlanFile(num_groups);
    const std::string text = PlanToJson(file);
    const std::string kind = num_groups == 20 ? "blocks" : "groups";
    EXPECT_EQ(Json::parse(text)["bases"][0]["tree"], kind);
    const PlanFile read = PlanFromJson(text, "plan.json");
    EXPECT_EQ(read.plan, file.plan);
    EXPECT_EQ(PlanToJson(read), text);
    VerifyPlan(read.plan);
  }
}

// Of a tree whose root is left some of the groups.
TEST(TreePlanFileTest, CutsReadBackIdenticalAndForgedOnesAreRefused) {
  std::mt19937 random(2);
  int num_read = 0;
  for (int trial = 0; trial < 12; ++trial) {
    Attribute place = DeepTree(30, 5, random);
    place.name = "place";
    const auto tree = CutTree(place, 6 + trial % 4);
    if (!tree) continue;
    ++num_read;
    SelectRequest request{Domain({place, {.name = "sex", .size = 3}}),
                          {{{MarginalRule::Kind::kUpTo, 2}}, {}},
                          {},
                          BudgetFromPcost(1)};
    request.matrices = MatrixOfAttributes(Select(request));
    request.matrices.front() = RandomTreeMatrix(*tree, random);
    const PlanFile file{Select(request), {}};
    const std::string text = PlanToJson(file);
    EXPECT_EQ(Json::parse(text)["bases"][0]["tree"], "cut");
    const PlanFile read = PlanFromJson(text, "plan.json");
    EXPECT_EQ(read.plan, file.plan);
    EXPECT_EQ(PlanToJson(read), text);
    VerifyPlan(read.plan);
    for (const int64_t top : {int64_t{-1}, int64_t{0}, int64_t{2}, int64_t{29}}) {
      EXPECT_NE(KindOfForged(file, [&](Json& json) { json["bases"][0]["top"] = top; }),
                std::nullopt);
    }
    EXPECT_NE(KindOfForged(file, [](Json& json) { json["bases"][0].erase("top"); }), std::nullopt);
    EXPECT_NE(KindOfForged(file, [](Json& json) { json["bases"][0]["tree"] = "groups"; }),
              std::nullopt);
  }
  EXPECT_GT(num_read, 5);
}

// Larger numbers at any one node cost more than the plan states; other shapes are not the tree of
// the attribute's groups.
TEST(TreePlanFileTest, ForgedNodesAreRefused) {
  for (const int num_groups : {20, 410}) {
    const PlanFile file = TreePlanFile(num_groups);
    ASSERT_EQ(KindOfForged(file, [](Json&) {}), std::nullopt);
    const auto nodes = [](Json& json) -> Json& { return json["bases"][0]["nodes"]; };
    Json plan = Json::parse(PlanToJson(file));
    const size_t num_nodes = nodes(plan).size();
    for (size_t node = 0; node < num_nodes; node += 1 + num_nodes / 7) {
      int num_changed = 0;
      for (const auto& [key, numbers] : nodes(plan)[node].items()) {
        if (key == "shares") continue;
        ++num_changed;
        const auto enlarge = [&, name = key](Json& json) {
          Json& changed = nodes(json)[node][name];
          std::function<void(Json&)> grow = [&](Json& value) {
            if (value.is_array()) {
              for (Json& item : value) grow(item);
            } else {
              value = value.get<int64_t>() * 2;
            }
          };
          grow(changed);
        };
        EXPECT_EQ(KindOfForged(file, enlarge), ErrorKind::kRefused) << node << " " << key;
      }
      EXPECT_GT(num_changed, 0) << nodes(plan)[node].dump();
    }
    EXPECT_EQ(KindOfForged(file, [&](Json& json) { nodes(json).erase(num_nodes - 1); }),
              ErrorKind::kRefused);
    EXPECT_EQ(KindOfForged(file, [&](Json& json) { json["bases"][0]["tree"] = "forest"; }),
              ErrorKind::kRefused);
    EXPECT_NE(KindOfForged(file, [&](Json& json) { nodes(json)[0] = Json::object(); }),
              std::nullopt);
    EXPECT_NE(KindOfForged(file, [&](Json& json) { nodes(json)[1] = "all"; }), std::nullopt);
    // Groups of other cells, under the same numbers.
    EXPECT_NE(KindOfForged(file, [&](Json& json) { json["bases"][0]["classes"] = {1}; }),
              std::nullopt);
  }
}

}  // namespace
}  // namespace residua
