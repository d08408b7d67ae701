#include "residua/files/table_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace residua {
namespace {

Domain DomainOf(const std::vector<std::string>& names) {
  std::vector<Attribute> attributes;
  for (const std::string& name : names) attributes.push_back({.name = name, .size = 2});
  return Domain(std::move(attributes));
}

std::string Small(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return tolower(c); });
  return text;
}

// Checks every column against every other, and the name of each of the 2^n tables.
void ExpectAllDifferent(const std::vector<std::string>& attributes) {
  const TableNames names = NamesOf(DomainOf(attributes));
  std::set<std::string> columns = {"table",    "estimate", "std_dev",
                                   "ci_lower", "ci_upper", "adjusted"};
  for (const std::string& column : names.columns) {
    EXPECT_TRUE(columns.insert(Small(column)).second)
        << column << " of " << testing::PrintToString(attributes);
  }
  std::map<std::string, AttributeSet> tables;
  for (uint64_t mask = 0; mask < uint64_t{1} << attributes.size(); ++mask) {
    AttributeSet table;
    for (int i = 0; i < static_cast<int>(attributes.size()); ++i) {
      if ((mask >> i & 1) != 0) table.push_back(i);
    }
    const auto [same, is_new] = tables.try_emplace(Small(names.TableName(table)), table);
    EXPECT_TRUE(is_new) << same->first << " is " << testing::PrintToString(same->second) << " and "
                        << testing::PrintToString(table) << " of "
                        << testing::PrintToString(attributes);
    EXPECT_LE(same->first.size(), 200u);
  }
}

TEST(TableNames, UsualNamesStayAsTheyAre) {
  const TableNames names = NamesOf(DomainOf({"age", "sex", "pos_x", "pos_y", "x", "a.b"}));
  EXPECT_EQ(names.columns, (std::vector<std::string>{"age", "sex", "pos_x", "pos_y", "x", "a.b"}));
  EXPECT_EQ(names.TableName({}), "total");
  EXPECT_EQ(names.TableName({0, 1}), "age_x_sex");
  EXPECT_EQ(names.TableName({2, 3, 4}), "pos_x_x_pos_y_x_x");
  EXPECT_EQ(names.TableName({5}), "a.b");
  EXPECT_EQ(NamesOf(DomainOf({"a/b c", "..", "~", "50%"})).TableName({0, 1, 2, 3}),
            "a%2Fb%20c_x_%2E._x_%7E_x_50%25");
}

TEST(TableNames, AColumnIsNeverCalledLikeANumber) {
  const TableNames names =
      NamesOf(DomainOf({"estimate", "Table", "estimate_", "ESTIMATE", "Sex", "sex", "sex_"}));
  // Names that can stay do, also those that come later.
  EXPECT_EQ(names.columns, (std::vector<std::string>{"estimate__", "Table_", "estimate_",
                                                     "ESTIMATE___", "Sex", "sex__", "sex_"}));
}

TEST(TableNames, AColumnOfLevelsIsCalledLikeNoOther) {
  const auto level_columns = [](const std::vector<std::string>& hierarchies,
                                const std::vector<std::string>& others) {
    std::vector<Attribute> attributes;
    for (const std::string& name : hierarchies) {
      attributes.push_back({.name = name,
                            .size = 2,
                            .queries = QueryKind::kHierarchy,
                            .groups = {{"both", {0, 1}}}});
    }
    for (const std::string& name : others) attributes.push_back({.name = name, .size = 2});
    const TableNames names = NamesOf(Domain(attributes));
    // Levels never change what an attribute's column is called.
    std::vector<std::string> all = hierarchies;
    all.insert(all.end(), others.begin(), others.end());
    EXPECT_EQ(names.columns, NamesOf(DomainOf(all)).columns);
    return names.level_columns;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(level_columns({"region"}, {"age"}), (Names{"region_level", ""}));
  EXPECT_EQ(level_columns({"a", "a_level"}, {"A_LEVEL", "a_level_"}),
            (Names{"a_level___", "a_level_level", "", ""}));
  EXPECT_EQ(level_columns({"sex", "Sex"}, {}), (Names{"sex_level", "Sex_level_"}));
}

TEST(TableNames, TablesNeverShareAFile) {
  // a_x_b is not the table of a and b.
  const TableNames names = NamesOf(DomainOf({"a", "b", "a_x_b"}));
  EXPECT_EQ(names.TableName({0, 1}), "a_x_b");
  EXPECT_EQ(names.TableName({2}), "a%5Fx_b");
  EXPECT_EQ(NamesOf(DomainOf({"a", "a_x", "x_b", "b"})).TableName({1, 3}), "a%5Fx_x_b");
  EXPECT_EQ(NamesOf(DomainOf({"sex", "Sex", "SEX"})).TableName({0, 1, 2}), "sex_x_Sex~2_x_SEX~3");
  EXPECT_EQ(NamesOf(DomainOf({"Total", "total "})).TableName({0, 1}), "Total~2_x_total%20");

  ExpectAllDifferent({"a", "b", "a_x_b"});
  ExpectAllDifferent({"a", "a_x", "x_b", "b", "x", "_x_", "_x", "x_"});
  ExpectAllDifferent({"A", "a", "a_X_b", "B", "b", "A_x_B", "a~2", "b_2", "B_"});
  ExpectAllDifferent({"total", "Total", "total ", "total~2", "total_2", "total_x"});
  ExpectAllDifferent({"a", "a%5Fx_b", "a_x_b", "b", "a%5fx_b"});
  ExpectAllDifferent({std::string(150, 'a'), std::string(150, 'A'), std::string(151, 'a'), "b"});
  ExpectAllDifferent(
      {"estimate", "estimate_", "Estimate", "ESTIMATE_", "table", "adjusted", "table_", "std_dev"});
}

// Letters that names such as these collide by.
TEST(TableNames, RandomNamesNeverCollide) {
  std::mt19937_64 random(7);
  const std::string letters = "aAxX__~% ";
  for (int k = 0; k < 500; ++k) {
    std::set<std::string> names;
    while (names.size() < 5) {
      std::string name;
      const size_t size = 1 + random() % 6;
      while (name.size() < size) name += letters[random() % letters.size()];
      names.insert(name);
    }
    std::vector<std::string> attributes(names.begin(), names.end());
    std::shuffle(attributes.begin(), attributes.end(), random);
    ExpectAllDifferent(attributes);
  }
}

TEST(TableNames, OtherAlphabets) {
  // É in one character, é in one, and é in two.
  const std::vector<std::string> names = {"\u00c9tat", "\u00e9tat", "e\u0301tat", "\u5e74\u9f62",
                                          "\u6027\u5225"};
  EXPECT_EQ(
      NamesOf(DomainOf(names)).parts,
      (std::vector<std::string>{names[0], names[1] + "~2", names[2] + "~3", names[3], names[4]}));
  EXPECT_EQ(
      NamesOf(DomainOf(names)).columns,
      (std::vector<std::string>{names[0], names[1] + "_", names[2] + "__", names[3], names[4]}));
  // A long name is cut between characters.
  std::string long_name;
  while (long_name.size() < 300) long_name += "\u5e74";
  const std::string cut = NamesOf(DomainOf({long_name})).TableName({0});
  EXPECT_LE(cut.size(), 200u);
  EXPECT_EQ(cut.find('~') % 3, 0u);
}

}  // namespace
}  // namespace residua
