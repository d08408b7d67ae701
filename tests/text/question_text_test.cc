#include "residua/text/question_text.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "residua/files/spec.h"

namespace residua {
namespace {

Domain TestDomain() {
  return ParseSpec(R"(
[attributes.age]
integers = [-5, 99]
[attributes.sex]
values = ["female", "male", "other sex", "a|b", "x..y", "say \"hi\""]
null = true
[attributes."home region"]
values = ["N1", "N2", "S1", "null"]
[attributes.income]
cuts = [10000, 25000.5, 50000]
[attributes.code]
size = 7
)",
                   "test.toml")
      .domain;
}

using Cells = std::vector<CellRange>;

Cells CellsOf(const std::string& text) {
  const ProductQuery query = ParseQuestion(text, TestDomain());
  EXPECT_EQ(query.factors().size(), 1u) << text;
  return std::get<Cells>(query.factors().front().weights);
}

TEST(QuestionTest, ReadsValuesListsAndRanges) {
  EXPECT_EQ(CellsOf("age=18..30"), (Cells{{23, 35}}));
  EXPECT_EQ(CellsOf("age=-5"), (Cells{{0, 0}}));
  EXPECT_EQ(CellsOf("age=-5..-3"), (Cells{{0, 2}}));
  EXPECT_EQ(CellsOf("age=..0"), (Cells{{0, 5}}));
  EXPECT_EQ(CellsOf("age=90.."), (Cells{{95, 104}}));
  EXPECT_TRUE(ParseQuestion("age=..", TestDomain()).factors().empty()) << "asks nothing of it";
  EXPECT_EQ(CellsOf("age=7|3..4|5"), (Cells{{8, 10}, {12, 12}})) << "sorted, touching ones joined";
  EXPECT_EQ(CellsOf("sex=female|\"a|b\""), (Cells{{0, 0}, {3, 3}}));
  EXPECT_EQ(CellsOf("sex=\"x..y\""), (Cells{{4, 4}}));
  EXPECT_EQ(CellsOf("sex=\"say \"\"hi\"\"\""), (Cells{{5, 5}}));
  EXPECT_EQ(CellsOf("sex=null"), (Cells{{6, 6}}));
  EXPECT_EQ(CellsOf("sex=.."), (Cells{{0, 5}})) << "no range holds the missing ones";
  EXPECT_EQ(CellsOf("\"home region\"=null"), (Cells{{3, 3}})) << "a listed value of that name";
  EXPECT_EQ(CellsOf("\"home region\"=N2..S1"), (Cells{{1, 2}}));
  EXPECT_EQ(CellsOf("income=..10000"), (Cells{{0, 0}}));
  EXPECT_EQ(CellsOf("income=10000..50000"), (Cells{{1, 2}}));
  EXPECT_EQ(CellsOf("income=50000.."), (Cells{{3, 3}}));
  EXPECT_EQ(CellsOf("income=\"(10000, 25000.5]\""), (Cells{{1, 1}}));
  EXPECT_EQ(CellsOf("code=6"), (Cells{{6, 6}}));
}

TEST(QuestionTest, TermsComeInTheDomainsOrder) {
  EXPECT_EQ(ParseQuestion("  sex=male   age=3 ", TestDomain()).attributes(), (AttributeSet{0, 1}));
  EXPECT_TRUE(ParseQuestion(" ", TestDomain()).attributes().empty());
}

TEST(QuestionTest, RefusesWhatMakesNoSense) {
  for (const char* text : {"age",
                           "age=",
                           "=3",
                           "age=30..18",
                           "age=100",
                           "age=3x",
                           "agee=3",
                           "sex=Female",
                           "sex=\"female",
                           "age=3 age=4",
                           "age=3|3",
                           "age=3..5|4",
                           "income=10000..20000",
                           "income=50000..10000",
                           "income=7",
                           "code=7",
                           "code=null",
                           "age=3,4",
                           "age=nan..5",
                           "age=1...3",
                           "sex=female|",
                           "income=10000..10000"}) {
    EXPECT_THROW(ParseQuestion(text, TestDomain()), Error) << text;
  }
}

// However the number is written: data and questions find the same cell.
TEST(QuestionTest, ReadsValuesAsTheDataHasThem) {
  for (const char* question :
       {"age=30", "age=+30", "age=030", "age=30.0", "age=3e1", "age=\" 30\""}) {
    EXPECT_EQ(CellsOf(question), (Cells{{35, 35}})) << question;
  }
  EXPECT_EQ(CellsOf("code=+2..5.0"), (Cells{{2, 5}}));
  for (const char* question : {"age=30.5", "age=nan", "age=1e999", "code=6.5", "sex=\" female\""}) {
    EXPECT_THROW(ParseQuestion(question, TestDomain()), Error) << question;
  }
}

// 0.1 lies between two doubles; a question means the same one as TOML.
TEST(QueryTextTest, CutsAreFoundByTheirDecimals) {
  Attribute attribute;
  attribute.name = "x";
  attribute.size = 3;
  attribute.encoding.cells = CutEncoding{{0.1, 0.7}};
  const Domain domain({attribute});
  EXPECT_EQ(ParseQuestion("x=0.1..0.7", domain).attributes(), AttributeSet{0});
}

}  // namespace
}  // namespace residua
