#include "residua/base/error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace residua {
namespace {

template <typename... Args>
Error Thrown(fmt::format_string<Args...> format, Args&&... args) {
  try {
    Fail(ErrorKind::kBadInput, format, std::forward<Args>(args)...);
  } catch (const Error& error) {
    return error;
  }
}

TEST(Error, KeepsItsKindAndMessage) {
  const Error error = Thrown("size {} is below {}", 1, 2);
  EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
  EXPECT_STREQ(error.what(), "size 1 is below 2");
}

TEST(Error, HasPlaceProblemAndRemedyAsTheFormatReads) {
  const Error error = Thrown("{}: has {} rows; give {} or more", "a.csv", 0, 1);
  EXPECT_EQ(PlainWords(error.place()), "a.csv");
  EXPECT_EQ(PlainWords(error.problem()), "has 0 rows");
  EXPECT_EQ(PlainWords(error.remedy()), "give 1 or more");
  EXPECT_STREQ(error.what(), "a.csv: has 0 rows; give 1 or more");

  const Error bare = Thrown("it is broken");
  EXPECT_TRUE(bare.place().empty());
  EXPECT_TRUE(bare.remedy().empty());
}

TEST(Error, JoinsWordsAndKeepsTheirPhrases) {
  const Words words = Joined({{"do "}, {}, {Phrase{Phrase::Kind::kNameData}, ", or "}, {"stop"}});
  EXPECT_EQ(words.size(), 4u);
  EXPECT_EQ(PlainWords(words), "do say where it is, or stop");
  EXPECT_TRUE(Joined({}).empty());
}

TEST(Error, GetsItsPlaceUnlessItsFileIsNamed) {
  const auto message = [](const auto& work) -> std::string {
    try {
      AtPlace("a.toml:3: key", "a.toml", work);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto fail = [](std::string_view place) {
    Fail(ErrorKind::kBadInput, "{}: is wrong", place);
  };
  EXPECT_EQ(message([] { Fail(ErrorKind::kBadInput, "is wrong"); }), "a.toml:3: key: is wrong");
  EXPECT_EQ(message([&] { fail("b.csv"); }), "a.toml:3: key: b.csv: is wrong");
  EXPECT_EQ(message([&] { fail("a.toml:2"); }), "a.toml:2: is wrong");
  EXPECT_EQ(message([] {}), "");
}

TEST(Error, TakesNoMarksFromArguments) {
  const Error error = Thrown("{}: no '{}'; look at {}", "a: b; c",
                             std::string("x\x1e"
                                         "5\x1fy\x1e; z\n"),
                             std::string_view("\x1c\x1d"));
  EXPECT_EQ(PlainWords(error.place()), "a: b; c");
  EXPECT_EQ(PlainWords(error.problem()), "no 'x\\x1e5\\x1fy\\x1e; z\\x0a'");
  EXPECT_EQ(PlainWords(error.remedy()), "look at \\x1c\\x1d");
  EXPECT_EQ(error.remedy().size(), 1u);
}

TEST(Error, LetsFrontEndsWordItsSteps) {
  const Error error = Thrown("{}: the budget is used up; {}, or {}", "a.ledger",
                             Phrase{Phrase::Kind::kGrant, {"rho", "0.5"}},
                             Phrase{Phrase::Kind::kForgive, {"3", "a \x1e.ledger"}});
  EXPECT_STREQ(error.what(),
               "a.ledger: the budget is used up; grant rho 0.5 more, or forgive entry 3 of a "
               "\\x1e.ledger");
  EXPECT_EQ(error.Message([](const Phrase& phrase) {
    return fmt::format("<{}:{}>", static_cast<int>(phrase.kind), fmt::join(phrase.arguments, "|"));
  }),
            fmt::format("a.ledger: the budget is used up; <{}:rho|0.5>, or <{}:3|a \\x1e.ledger>",
                        static_cast<int>(Phrase::Kind::kGrant),
                        static_cast<int>(Phrase::Kind::kForgive)));
}

TEST(Error, GetsItsPlaceInFrontOnce) {
  const auto fail = [] { Fail(ErrorKind::kRefused, "{}: is wrong; fix it", "line 3"); };
  try {
    AtPlace("spec.toml", [&] { AtPlace("spec.toml", fail); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    EXPECT_STREQ(error.what(), "spec.toml: line 3: is wrong; fix it");
    EXPECT_EQ(PlainWords(error.remedy()), "fix it");
  }
  EXPECT_EQ(AtPlace("spec.toml", [] { return 7; }), 7);
}

TEST(Error, NamesAPlaceOnce) {
  const auto message = [](std::string_view place, std::string_view own) {
    return std::string(ErrorOf(ErrorKind::kBadInput, "{}: is wrong", own).At(place).what());
  };
  EXPECT_EQ(message("workload.tables.weight", "weight"), "workload.tables.weight: is wrong");
  EXPECT_EQ(message("a.toml:3: weight", "weight"), "a.toml:3: weight: is wrong");
  EXPECT_EQ(message("weight", "weight"), "weight: is wrong");
  EXPECT_EQ(message("tables.overweight", "weight"), "tables.overweight: weight: is wrong");
  EXPECT_EQ(message("weight", "tables.weight"), "weight: tables.weight: is wrong");
  EXPECT_EQ(ErrorOf(ErrorKind::kBadInput, "is wrong").At("tables.").what(),
            std::string("tables.: is wrong"));
}

TEST(Error, ReportsBrokenInvariantsInReleaseBuilds) {
  try {
    AtPlace("a place", [] { RESIDUA_CHECK(1 + 1 == 3); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBroken);
    EXPECT_TRUE(std::string_view(error.what()).starts_with("internal check failed: 1 + 1 == 3"));
  }
}

}  // namespace
}  // namespace residua
