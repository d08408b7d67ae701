#include "residua/model/hierarchy.h"

#include <gtest/gtest.h>

#include <functional>

#include "residua/base/error.h"

namespace residua {
namespace {

Attribute Regions() {
  Attribute attribute{"region", 4};
  attribute.encoding.cells = ValueEncoding{{"N1", "N2", "S1"}};
  attribute.encoding.null_cell = true;
  return attribute;
}

std::string HierarchyMessage(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Hierarchy, LevelsFromTheLowestUp) {
  HierarchyBuilder builder(Regions());
  const auto south = builder.AddGroup("south", {builder.AddValue("S1", "south")});
  const auto inner = builder.AddGroup(
      "all north", {builder.AddValue("N2", "all north"), builder.AddValue("N1", "all north")});
  EXPECT_EQ(inner.height, 1);
  const auto north = builder.AddGroup("north", {inner});
  builder.AddGroup("country", {south, north});
  const std::vector<CellGroup> expected = {
      {"south", {2}}, {"all north", {0, 1}}, {"north", {0, 1}}, {"country", {0, 1, 2}}};
  EXPECT_EQ(builder.Groups(), expected);

  // "north" has the same cells as "all north", and is above it.
  Attribute regions = Regions();
  regions.groups = expected;
  EXPECT_TRUE(AnswerLevels(regions).empty());
  regions.queries = QueryKind::kHierarchy;
  EXPECT_EQ(AnswerLevels(regions), (std::vector<int64_t>{0, 0, 0, 0, 1, 1, 2, 3}));
}

// A group may have the empty name, like any other.
TEST(Hierarchy, KeepsEveryName) {
  HierarchyBuilder builder(Regions());
  builder.AddGroup("", {builder.AddValue("N1", ""), builder.AddValue("N2", "")});
  builder.AddGroup("a\n\"b\"", {builder.AddValue("S1", "a\n\"b\"")});
  const std::vector<CellGroup> expected = {{"", {0, 1}}, {"a\n\"b\"", {2}}};
  EXPECT_EQ(builder.Groups(), expected);
}

TEST(Hierarchy, RefusesWhatIsNoHierarchy) {
  HierarchyBuilder builder(Regions());
  EXPECT_EQ(HierarchyMessage([&] { builder.AddValue("S9", "south"); }),
            "lists 'S9', which is not a value of the attribute; list values only, and write a "
            "group inside the group that holds it");
  EXPECT_EQ(HierarchyMessage([&] { builder.AddValue("null", "south"); }),
            "lists 'null', which is not a value of the attribute; list values only, and write a "
            "group inside the group that holds it");
  const auto first = builder.AddValue("N1", "");
  EXPECT_EQ(HierarchyMessage([&] { builder.AddValue("N1", "south"); }),
            "lists 'N1' twice, in '' and 'south'; keep one");
  EXPECT_EQ(HierarchyMessage([&] { builder.AddValue("N1", ""); }), "lists 'N1' twice; keep one");
  EXPECT_EQ(HierarchyMessage([&] { builder.AddGroup("south", {}); }),
            "is empty; list values, or leave the group out");
  EXPECT_EQ(HierarchyMessage([] { HierarchyBuilder::CheckLevel(63); }), "");
  EXPECT_EQ(HierarchyMessage([] { HierarchyBuilder::CheckLevel(64); }),
            "is more than 64 levels deep; use fewer levels, and let no group hold itself");
  EXPECT_EQ(HierarchyMessage([&] { builder.Groups(); }), "lacks the value 'N2'; put it in a group");
  const auto second = builder.AddValue("N2", "b");
  const auto third = builder.AddValue("S1", "b");
  builder.AddGroup("b", {first});
  builder.AddGroup("b", {second, third});
  EXPECT_EQ(HierarchyMessage([&] { builder.Groups(); }),
            "has two groups or values named 'b'; rename one");
}

TEST(Hierarchy, LeavesTheNameOfMissingValuesToThem) {
  Attribute regions = Regions();
  for (const bool has_null : {true, false}) {
    regions.encoding.null_cell = has_null;
    regions.size = has_null ? 4 : 3;
    HierarchyBuilder builder(regions);
    builder.AddGroup("null", {builder.AddValue("N1", "null"), builder.AddValue("N2", "null"),
                              builder.AddValue("S1", "null")});
    EXPECT_EQ(HierarchyMessage([&] { builder.Groups(); }),
              has_null ? "has a group named 'null', as missing values are; rename it" : "");
  }
}

}  // namespace
}  // namespace residua
