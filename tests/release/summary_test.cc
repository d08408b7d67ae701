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
  (budget.limits == Accounting::kZcdp ? facts.before.granted : facts.before.granted_mu2) =
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

TEST(SummaryTest, ADeltaIsOneInMany) {
  EXPECT_TRUE(Has(SummaryAt(BudgetFromEpsilon(1, 1e-9)), "at most 1 in 1,000,000,000."));
  EXPECT_TRUE(Has(SummaryAt(BudgetFromEpsilon(1, 0.25)), "at most 1 in 4."));
  EXPECT_TRUE(Has(SummaryAt(BudgetFromEpsilon(1, 1.3e-7)), "at most 1 in 7,600,000."));
  EXPECT_TRUE(Has(SummaryAt(BudgetFromEpsilon(1, 1e-20)), "at most 1e-20."));
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

// Shares of what was granted: half a grant of rho 2 here, a tenth of it before.
TEST(SummaryTest, SaysWhatIsLeftOfTheBudget) {
  SelectRequest request{People(), {ParseMarginalRules("<=2"), {}}, {}, BudgetFromRho(1)};
  ReleaseFacts facts;
  facts.before.granted = 4;
  facts.before.spent = Rational(2, 5);
  const std::string text = SummaryText({Select(request), {}}, facts);
  EXPECT_TRUE(Has(text, "| spent before | 10 % |\n| this release | 50 % |\n| left | 40 % |\n"))
      << text;
  EXPECT_TRUE(Has(text, "| granted for this data | 2 |\n| spent before | 0.2 |\n"));
  // Nothing of a third is hidden, and no more is left than there is.
  facts.before.granted = 6;
  facts.before.spent = 0;
  const std::string third = SummaryText({Select(request), {}}, facts);
  EXPECT_TRUE(Has(third, "| spent before | 0 % |\n| this release | 33.4 % |\n| left | 66.6 % |\n"))
      << third;
  // No unit that a reader would have to look up comes before the part for specialists.
  for (const char* unit : {"rho", "mu^2", "mu =", "zCDP"}) {
    EXPECT_GT(third.find(unit), third.find("## For specialists")) << unit;
  }
}

TEST(SummaryTest, SaysHowColumnsAreCalledAndTextsWereRead) {
  const Domain domain(
      {{.name = "estimate",
        .size = 2,
        .queries = QueryKind::kHierarchy,
        .encoding = {.cells = ValueEncoding{{"f", "m"}}},
        .groups = {{"both", {0, 1}}}},
       {.name = "at", .size = 24, .encoding = {.cells = PartEncoding{DatePart::kHour}}}});
  PlanFile file{Select({domain, {ParseMarginalRules("1"), {}}, {}, BudgetFromRho(1)}), {}};
  ReleaseFacts facts;
  facts.before.granted = 2;
  file.data.null_values = {"NA", "-"};
  const std::string text = SummaryText(file, facts);
  EXPECT_TRUE(Has(text, "The column of `estimate` is called `estimate_`. `estimate_level` is 0"))
      << text;
  EXPECT_TRUE(Has(text, "These texts were taken as missing values: `NA`, `-`."));
  EXPECT_TRUE(Has(text, "- `at`: the hour of a date or time: `0`, "));
  EXPECT_TRUE(Has(text, "in UTC"));
  EXPECT_FALSE(Has(SummaryAt(BudgetFromRho(1)), "UTC"));
}

TEST(SummaryTest, SaysWhatThePublisherSays) {
  const std::string text = SummaryAt(
      BudgetFromRho(1), {}, {"People of 2020", "A survey.", "The office", "2021-05", "a@b", "CC0"});
  EXPECT_EQ(text.rfind("# People of 2020\n\nA survey.\n\n- Published by: The office\n"
                       "- Date: 2021-05\n- Contact: a@b\n- Licence: CC0\n\n**In short:** 4 tables "
                       "of counts, with "
                       "random noise added "
                       "to every count. From this release, a suspicion of 50 % that the data "
                       "includes a certain row can grow to at most 99.99 %. A typical count is off "
                       "by about 1.",
                       0),
            0u)
      << text;
  EXPECT_EQ(SummaryAt(BudgetFromRho(1))
                .rfind("# A differentially private release\n\n**In short:** 4 tables", 0),
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
    return text.substr(text.find("each of them. ") + 14);
  };
  const IntegerEncoding integers{1, 3};
  const CutEncoding cuts{{1, 2}};
  const ValueEncoding values{{"x", "y", "z"}};
  EXPECT_EQ(fate(values, OutsidePolicy::kError, false),
            "There are no missing values or other values: a release stops at these.");
  EXPECT_EQ(fate(cuts, OutsidePolicy::kError, true),
            "Missing values were counted as `null`. There are no values that are not numbers: a "
            "release stops at these.");
  EXPECT_EQ(fate(integers, OutsidePolicy::kClamp, false),
            "Numbers outside were counted at the nearest end, and fractions at the whole number "
            "below. There are no missing values or values that are not numbers: a release stops at "
            "these.");
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
                  "12 values: `a`, `b`, `c`, `d`, `e`, `f`, ..., `l`. Counted: each of them."))
      << DescribeAttribute(attribute);
  attribute.encoding.cells = CutEncoding{{0, 2.5}};
  attribute.size = 3;
  EXPECT_TRUE(Has(DescribeAttribute(attribute),
                  "3 ranges: `(-inf, 0]`, `(0, 2.5]`, `(2.5, inf)` "
                  "(`(0, 2.5]` is above 0 and up to 2.5)."))
      << DescribeAttribute(attribute);
  EXPECT_EQ(MarkdownCode("a`b\nc"), "`a'b c`");
}

}  // namespace
}  // namespace residua
