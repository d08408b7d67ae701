#include "residua/text/question_text.h"

#include <gtest/gtest.h>

#include "residua/base/error.h"
#include "residua/files/spec.h"
#include "residua/text/domain_text.h"

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

TEST(QuestionTest, TheTotalHasNoTerms) {
  for (const char* text : {"", "  ", "total", " total "}) {
    EXPECT_TRUE(ParseQuestion(text, TestDomain()).factors().empty()) << text;
  }
  // An attribute of this name is asked for by its values.
  const Domain domain = ParseSpec("[attributes.total]\nsize = 3\n", "test.toml").domain;
  EXPECT_TRUE(ParseQuestion("total", domain).factors().empty());
  EXPECT_EQ(ParseQuestion("total=1", domain).factors().size(), 1u);
}

TEST(QuestionTest, ReadsDates) {
  const Domain domain = ParseSpec(R"(
[attributes.day]
dates = ["2013-01-01", "2013-12-31"]
[attributes.month]
column = "day"
dates = [2013-01-01, 2013-12-31]
every = "month"
null = true
[attributes.weekday]
column = "day"
part = "weekday"
[attributes.hour]
column = "day"
part = "hour"
)",
                                  "test.toml")
                            .domain;
  const auto cells = [&](const std::string& text) {
    return std::get<Cells>(ParseQuestion(text, domain).factors().front().weights);
  };
  EXPECT_EQ(cells("day=2013-01..2013-03"), (Cells{{0, 89}}));
  EXPECT_EQ(cells("day=2013-01-31"), (Cells{{30, 30}}));
  EXPECT_EQ(cells("day=2013-Q4"), (Cells{{273, 364}}));
  EXPECT_EQ(cells("day=2013-W02|2013-02"), (Cells{{6, 12}, {31, 58}}));
  EXPECT_EQ(cells("month=2013-01..2013-03"), (Cells{{0, 2}}));
  EXPECT_EQ(cells("month=..2013-03"), (Cells{{0, 2}}));
  EXPECT_EQ(cells("month=2013"), (Cells{{0, 11}}));
  EXPECT_EQ(cells("month=null"), (Cells{{12, 12}}));
  EXPECT_EQ(cells("weekday=Monday"), (Cells{{0, 0}}));
  EXPECT_EQ(cells("weekday=Saturday..Sunday"), (Cells{{5, 6}}));
  EXPECT_EQ(cells("hour=8..17"), (Cells{{8, 17}}));
  const auto message = [&](const std::string& text) -> std::string {
    try {
      ParseQuestion(text, domain);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("month=2013-01-15"),
            "'month': '2013-01-15' begins or ends within a month, and each month is counted as a "
            "whole; write it like 2013-01");
  EXPECT_EQ(message("month=2014"),
            "'month' has no value '2014'; its values are 2013-01 to 2013-12, and null for missing "
            "values");
  EXPECT_EQ(message("weekday=monday"),
            "'weekday' has no value 'monday'; its values are Monday, Tuesday, Wednesday, Thursday, "
            "Friday, Saturday, Sunday");
}

TEST(QuestionTest, ReadsGroupsAndLabels) {
  const Domain domain = ParseSpec(R"(
[attributes.carrier]
values = ["AA", "B6", "DL", "WN"]
outside = "other"
null = true
queries = "hierarchy"
hierarchy = { legacy = ["AA", "DL"], "low cost" = ["B6", "WN"], rest = ["other"] }
[attributes.age]
integers = [0, 99]
null = true
queries = "prefix"
[attributes.income]
cuts = [10, 20.5, 30]
null = true
queries = "range"
[attributes.level]
values = ["all", "low", "<=low", "my high"]
null = true
queries = "prefix"
)",
                                  "test.toml")
                            .domain;
  const auto query = [&](const std::string& text) { return ParseQuestion(text, domain); };
  const auto cells = [&](const std::string& text) {
    return std::get<Cells>(query(text).factors().front().weights);
  };
  EXPECT_EQ(cells("carrier=legacy"), (Cells{{0, 0}, {2, 2}}));
  EXPECT_EQ(cells("carrier=\"low cost\"|AA"), (Cells{{0, 1}, {3, 3}}));
  EXPECT_EQ(cells("carrier=other"), (Cells{{4, 4}}));
  EXPECT_EQ(cells("carrier=rest|null"), (Cells{{4, 5}}));
  EXPECT_EQ(cells("age=<=60"), (Cells{{0, 60}}));
  EXPECT_TRUE(query("age=all").factors().empty()) << "missing values too";
  EXPECT_EQ(cells("income=<=20.5"), (Cells{{0, 1}}));
  EXPECT_EQ(cells("income=<=inf"), (Cells{{0, 3}}));
  EXPECT_EQ(cells("income=\"(10, 30]\""), (Cells{{1, 2}}));
  EXPECT_EQ(cells("income=\"(-inf, 20.5]\""), (Cells{{0, 1}}));
  EXPECT_EQ(cells("income=\"(20.5, inf)\""), (Cells{{2, 3}}));
  EXPECT_EQ(cells("income=\"(10, 20.5]\"..null"), (Cells{{1, 4}}));
  EXPECT_EQ(cells("level=\"all\""), (Cells{{0, 0}})) << "the value";
  EXPECT_EQ(cells("level=\"<=low\""), (Cells{{2, 2}}));
  EXPECT_EQ(cells("level=\"<=my high\""), (Cells{{0, 3}})) << "no value of that name";
  for (const char* text :
       {"level=all", "level=<=low", "carrier=legacy|AA", "carrier=XX", "carrier=legacy..B6",
        "age=<=100", "income=\"(30, 10]\"", "income=\"(10, 30)\"", "income=<=11", "income=\"(\""}) {
    EXPECT_THROW(query(text), Error) << text;
  }
  // The label of every answer is a question for it.
  for (int i = 0; i < 3; ++i) {
    const Attribute& attribute = domain[i];
    for (int64_t answer = 0; answer < NumAnswers(attribute); ++answer) {
      const std::string label = AnswerLabel(attribute, answer);
      const bool is_range = label.find("..") != std::string::npos;
      const bool needs_quotes = !is_range && label != "null" && label != "all";
      if (is_range && label.find(' ') != std::string::npos) continue;  // quotes around both ends
      const std::string text = attribute.name + "=" + (needs_quotes ? "\"" + label + "\"" : label);
      EXPECT_NO_THROW(query(text)) << text;
    }
  }
}

TEST(DomainTextTest, NamesMayNeedQuotes) {
  const auto attribute = [](std::string name) {
    Attribute made;
    made.name = std::move(name);
    made.size = 2;
    return made;
  };
  const Domain domain({attribute("a"), attribute("b"), attribute("a,b"), attribute("net income"),
                       attribute("say \"hi\""), attribute("c, d"), attribute(" padded")});
  EXPECT_EQ(ParseAttributeSet("a, b", domain), (AttributeSet{0, 1})) << "not the name itself";
  EXPECT_EQ(ParseAttributeSet("\"a,b\"", domain), (AttributeSet{2}));
  EXPECT_EQ(ParseAttributeSet("\"a\",\"b\"", domain), (AttributeSet{0, 1}));
  EXPECT_EQ(ParseAttributeSet("net income,\"a,b\" , a", domain), (AttributeSet{0, 2, 3}));
  EXPECT_EQ(ParseAttributeSet("\"say \"\"hi\"\"\"", domain), (AttributeSet{4}));
  EXPECT_EQ(ParseAttributeSet("c, d", domain), (AttributeSet{5})) << "there is no c";
  EXPECT_EQ(ParseAttributeSet("\" padded\"", domain), (AttributeSet{6}));
  EXPECT_EQ(ParseAttributeSet("1", domain), (AttributeSet{1}));
  for (const char* text : {"a,b", "\"a", "\"a\"b", "\"1\"", "a,,b", "a,"}) {
    EXPECT_THROW(ParseAttributeSet(text, domain), Error) << text;
  }
  try {
    ParseAttributeSet("a,b", domain);
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "'a,b' is the name of one attribute and a list of several; put the one name in "
                 "double quotes, or each name of the list");
  }
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

std::string MessageOf(std::string_view question, const Domain& domain) {
  try {
    ParseAnyQuestion(question, domain);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(QuestionTest, NamesTheNearestCut) {
  for (const auto& [number, nearest] : {std::pair{"9", "10000"},
                                        {"17000", "10000"},
                                        {"18000", "25000.5"},
                                        {"37500", "25000.5"},
                                        {"37501", "50000"},
                                        {"60000", "50000"},
                                        {"1e300", "50000"}}) {
    const std::string message = MessageOf(fmt::format("income={}..", number), TestDomain());
    EXPECT_TRUE(message.ends_with(fmt::format("the nearest is {}", nearest))) << message;
  }
}

TEST(QuestionTest, SaysWhatCanBeAskedOfAMean) {
  Attribute x = {.name = "x", .size = 3};
  x.encoding.cells = MeanEncoding{.low = 0, .high = 10, .step = 1};
  x.encoding.null_cell = true;
  const Domain domain({x});
  for (const char* question : {"mean(x) x=null", "sum(x) mean(x)", "x=null x=null"}) {
    EXPECT_EQ(
        MessageOf(question, domain),
        "the question names 'x' twice; ask for mean(x) or sum(x) alone, which are of all rows "
        "that have a number")
        << question;
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
