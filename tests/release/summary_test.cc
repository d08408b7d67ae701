#include "residua/release/summary.h"

#include <gtest/gtest.h>

#include "residua/release/attribute_words.h"
#include "residua/text/workload_text.h"

namespace residua {
namespace {

Domain People() {
  return Domain({{.name = "age",
                  .size = 11,
                  .encoding = {.cells = IntegerEncoding{0, 9},
                               .null_cell = true,
                               .outside = OutsidePolicy::kClamp}},
                 {.name = "sex", .size = 2, .encoding = {.cells = ValueEncoding{{"f", "m"}}}}});
}

std::string SummaryAt(const Budget& budget, const Protection& protection = {},
                      const ReleaseText& text = {}) {
  SelectRequest request{People(), {ParseMarginalRules("<=2"), {}}, {}, budget};
  request.protection = protection;
  ReleaseFacts facts;
  (budget.limits == Accounting::kZcdp ? facts.balance.granted : facts.balance.granted_mu2) =
      budget.pcost;
  facts.num_tables = 4;
  facts.num_answers = 36;
  facts.text = text;
  return SummaryText({Select(request), {}}, facts);
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(SummaryTest, TheWordsForThePromiseFollowFromTheNumbers) {
  const std::string strong = SummaryAt(BudgetFromEpsilon(1, 1e-9));
  EXPECT_TRUE(Has(strong, "at most 73.2 % sure")) << strong;
  EXPECT_FALSE(Has(strong, "weak"));
  const std::string weak = SummaryAt(BudgetFromEpsilon(100, 1e-9));
  EXPECT_TRUE(Has(weak, "at most 100 % sure")) << weak;
  EXPECT_TRUE(Has(weak, "**This promise is weak.**"));
  for (const std::string& text : {strong, weak}) {
    EXPECT_FALSE(Has(text, "reliably"));
    EXPECT_FALSE(Has(text, "hardly"));
  }
}

TEST(SummaryTest, SaysWhoIsProtected) {
  EXPECT_TRUE(Has(SummaryAt(BudgetFromRho(1)), "whether a certain row is in the data"));
  const std::string replaced =
      SummaryAt(BudgetFromRho(1), {Protection::Neighbours::kReplaceOne, "", 1});
  EXPECT_TRUE(Has(replaced, "which of two rows is the one in the data"));
  EXPECT_TRUE(Has(replaced, "The number of rows is not protected"));
  const std::string person =
      SummaryAt(BudgetFromRho(1), {Protection::Neighbours::kAddRemove, "patient", 1});
  EXPECT_TRUE(Has(person, "whether the rows of a certain `patient` are in the data"));
  EXPECT_TRUE(Has(person, "For each `patient`, at most one row was counted"));
  EXPECT_FALSE(Has(person, "several rows is protected less"));
}

TEST(SummaryTest, ListsTablesInTheOrderOfTheAttributes) {
  const std::string text = SummaryAt(BudgetFromRho(1));
  EXPECT_LT(text.find("| total |"), text.find("| age |"));
  EXPECT_LT(text.find("| age |"), text.find("| sex |"));
  EXPECT_LT(text.find("| sex |"), text.find("| age x sex |"));
}

TEST(SummaryTest, SaysWhatThePublisherSays) {
  const std::string text =
      SummaryAt(BudgetFromRho(1), {}, {"People of 2020", "A survey.", "The office", "a@b", "CC0"});
  EXPECT_EQ(text.rfind("# People of 2020\n\nA survey.\n\n- Published by: The office\n"
                       "- Contact: a@b\n- Licence: CC0\n\n## What was published\n",
                       0),
            0u)
      << text;
  EXPECT_EQ(SummaryAt(BudgetFromRho(1))
                .rfind("# A differentially private release\n\n## What was published\n", 0),
            0u);
}

// As the table of docs/guide.md has it.
TEST(SummaryTest, DescribesEachPolicyForValuesWithoutACell) {
  const auto fate = [](auto cells, OutsidePolicy outside, bool null_cell) {
    const Attribute attribute{
        .name = "a",
        .size = 3 + (null_cell ? 1 : 0),
        .encoding = {.cells = cells, .null_cell = null_cell, .outside = outside}};
    const std::string text = DescribeAttribute(attribute);
    return text.substr(text.find("each cell. ") + 11);
  };
  const IntegerEncoding integers{1, 3};
  const CutEncoding cuts{{1, 2}};
  const ValueEncoding values{{"x", "y", "z"}};
  EXPECT_EQ(fate(values, OutsidePolicy::kError, false),
            "The release would have stopped at missing values or other values.");
  EXPECT_EQ(fate(cuts, OutsidePolicy::kError, true),
            "Missing values were counted as `null`. The release would have stopped at values that "
            "are not numbers.");
  EXPECT_EQ(fate(integers, OutsidePolicy::kClamp, false),
            "Numbers outside were counted at the nearest end, and fractions at the whole number "
            "below. The release would have stopped at missing values or values that are not "
            "numbers.");
  EXPECT_EQ(fate(integers, OutsidePolicy::kClamp, true),
            "Numbers outside were counted at the nearest end, and fractions at the whole number "
            "below. Missing values and values that are not numbers were counted as `null`.");
  EXPECT_EQ(fate(integers, OutsidePolicy::kDrop, false),
            "Rows with missing values, numbers outside, fractions or values that are not numbers "
            "were left out of all tables.");
  EXPECT_EQ(fate(values, OutsidePolicy::kDrop, true),
            "Missing values were counted as `null`. Rows with other values were left out of all "
            "tables.");
  EXPECT_EQ(fate(values, OutsidePolicy::kNull, true),
            "Missing values were counted as `null`. So were other values.");
}

TEST(SummaryTest, ShowsTheFirstLabelsAndTheLast) {
  Attribute attribute{.name = "a", .size = 12, .encoding = {.cells = ValueEncoding{{}}}};
  for (char c = 'a'; c < 'm'; ++c) {
    std::get<ValueEncoding>(attribute.encoding.cells).values.emplace_back(1, c);
  }
  EXPECT_TRUE(Has(DescribeAttribute(attribute),
                  "one of 12 values: `a`, `b`, `c`, `d`, `e`, `f`, ..., `l` (12 cells)."))
      << DescribeAttribute(attribute);
  EXPECT_EQ(MarkdownCode("a`b\nc"), "`a'b c`");
}

}  // namespace
}  // namespace residua
