#include "residua/model/cell_finder.h"

#include <gtest/gtest.h>

#include <limits>

#include "residua/base/error.h"

namespace residua {

static bool operator==(const FoundCell& a, const FoundCell& b) {
  return a.cell == b.cell && a.fault == b.fault;
}

static void PrintTo(const FoundCell& found, std::ostream* out) {
  *out << "cell " << found.cell << ", fault " << static_cast<int>(found.fault);
}

namespace {

using Fault = FoundCell::Fault;
constexpr FoundCell kNotInteger{FoundCell::kNoCell, Fault::kNotInteger};
constexpr FoundCell kNotNumber{FoundCell::kNoCell, Fault::kNotNumber};
constexpr FoundCell kMissing{FoundCell::kNoCell, Fault::kNan};
constexpr FoundCell kNotListed{FoundCell::kNoCell, Fault::kNotListed};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

Attribute Made(Encoding encoding, int64_t size = 0) {
  Attribute attribute;
  attribute.name = "a";
  attribute.size = NumCells(encoding).value_or(size);
  attribute.encoding = std::move(encoding);
  return attribute;
}

TEST(CellFinderTest, FindsIntegers) {
  const Attribute attribute = Made({IntegerEncoding{-5, 99}, true});
  const CellFinder finder(attribute);
  EXPECT_EQ(finder.Find(int64_t{-5}), (FoundCell{0}));
  EXPECT_EQ(finder.Find(int64_t{99}), (FoundCell{104}));
  EXPECT_EQ(finder.Find(int64_t{-6}), (FoundCell{0, Fault::kBelow}));
  EXPECT_EQ(finder.Find(int64_t{100}), (FoundCell{104, Fault::kAbove})) << "not the null cell";
  EXPECT_EQ(finder.Find(kLeast), (FoundCell{0, Fault::kBelow}));
  EXPECT_EQ(finder.Find(kGreatest), (FoundCell{104, Fault::kAbove}));
  EXPECT_EQ(finder.Find(-0.0), (FoundCell{5}));
  EXPECT_EQ(finder.Find(7.0), (FoundCell{12}));
  EXPECT_EQ(finder.Find(-0.5), (FoundCell{4, Fault::kNotInteger})) << "clamps to the one below";
  EXPECT_EQ(finder.Find(99.5), (FoundCell{104, Fault::kNotInteger}));
  EXPECT_EQ(finder.Find(-5.5), (FoundCell{0, Fault::kNotInteger}));
  EXPECT_EQ(finder.Find(0x1p63), (FoundCell{104, Fault::kAbove}));
  EXPECT_EQ(finder.Find(-0x1p63), (FoundCell{0, Fault::kBelow}));
  EXPECT_EQ(finder.Find(kInfinity), (FoundCell{104, Fault::kAbove}));
  EXPECT_EQ(finder.Find(-kInfinity), (FoundCell{0, Fault::kBelow}));
  EXPECT_EQ(finder.Find(kNan), kMissing);
}

TEST(CellFinderTest, FindsNumbersWrittenAsText) {
  const Attribute attribute = Made({IntegerEncoding{-5, 99}});
  const CellFinder finder(attribute);
  for (const char* seven : {"7", "+7", " 7 ", "007", "7.0", "7e0", "70e-1"}) {
    EXPECT_EQ(finder.Find(seven), (FoundCell{12})) << seven;
  }
  EXPECT_EQ(finder.Find("7.5"), (FoundCell{12, Fault::kNotInteger}));
  EXPECT_EQ(finder.Find("99999999999999999999"), (FoundCell{104, Fault::kAbove}));
  EXPECT_EQ(finder.Find("-1e999"), (FoundCell{0, Fault::kBelow}));
  for (const char* text : {"", " ", "x", "7x", "+-7", "0x7"}) {
    EXPECT_EQ(finder.Find(text), kNotInteger) << text;
  }
  EXPECT_EQ(finder.Find("NaN"), kMissing);
}

TEST(CellFinderTest, BareCodesAreIntegersFromZero) {
  const Attribute attribute = Made({std::monostate{}, true}, 8);
  const CellFinder finder(attribute);
  EXPECT_EQ(finder.Find(int64_t{6}), (FoundCell{6}));
  EXPECT_EQ(finder.Find(int64_t{7}), (FoundCell{6, Fault::kAbove})) << "the null cell is no code";
  EXPECT_EQ(finder.Find("0"), (FoundCell{0}));
}

TEST(CellFinderTest, AttributesMayBeLargerThanAnyTable) {
  const Attribute attribute = Made({IntegerEncoding{0, (int64_t{1} << 40) - 1}});
  EXPECT_EQ(CellFinder(attribute).Find("1099511627775"), (FoundCell{1099511627775}));
}

TEST(CellFinderTest, FindsNumbersBetweenCuts) {
  const Attribute attribute = Made({CutEncoding{{0.1, 10, 20}}});
  const CellFinder finder(attribute);
  EXPECT_EQ(finder.Find(0.1), (FoundCell{0})) << "a cut ends its cell";
  EXPECT_EQ(finder.Find("0.1"), (FoundCell{0}));
  EXPECT_EQ(finder.Find(0.11), (FoundCell{1}));
  EXPECT_EQ(finder.Find("20"), (FoundCell{2}));
  EXPECT_EQ(finder.Find(kInfinity), (FoundCell{3}));
  EXPECT_EQ(finder.Find(-kInfinity), (FoundCell{0}));
  EXPECT_EQ(finder.Find("1e999"), (FoundCell{3}));
  EXPECT_EQ(finder.Find(kNan), kMissing);
  EXPECT_EQ(finder.Find("x"), kNotNumber);
}

TEST(CellFinderTest, FindsListedValuesAsTheyAre) {
  const Attribute attribute = Made({ValueEncoding{{"x", "7", ""}}});
  const CellFinder finder(attribute);
  EXPECT_EQ(finder.Find("x"), (FoundCell{0}));
  EXPECT_EQ(finder.Find("7"), (FoundCell{1}));
  EXPECT_EQ(finder.Find(""), (FoundCell{2}));
  for (const char* text : {"X", " x", "07", "+7", "7.5", ".", "x.0", "null"}) {
    EXPECT_EQ(finder.Find(text), kNotListed) << text;
  }
}

// As pandas writes whole numbers of a column with missing values.
TEST(CellFinderTest, FindsListedNumbersWrittenWithADecimalPoint) {
  const Attribute attribute = Made({ValueEncoding{{"1", "02", "2.5", "3.0"}}});
  const CellFinder finder(attribute);
  EXPECT_EQ(finder.Find("1.0"), (FoundCell{0}));
  EXPECT_EQ(finder.Find("2.00"), (FoundCell{1}));
  EXPECT_EQ(finder.Find("2.50"), (FoundCell{2}));
  EXPECT_EQ(finder.Find("3.0"), (FoundCell{3}));
  for (const char* text : {"2", "3", "1.5", "1e0"}) {
    EXPECT_EQ(finder.Find(text), kNotListed) << text;
  }
  const Attribute other = Made({ValueEncoding{{"1"}}, false, OutsidePolicy::kOther});
  EXPECT_EQ(CellFinder(other).Find("1.0"), (FoundCell{0}));
  EXPECT_EQ(CellFinder(other).Find("1.5"), kNotListed);
}

TEST(CellFinderTest, FindsListedNumbersByTheirSize) {
  const Attribute attribute = Made({ValueEncoding{{"1", "02", "2.5", "x", "9007199254740993"}}});
  const CellFinder finder(attribute);
  for (const char* one : {"1", "1.0", "1.00", "1e0", "10e-1", "+1"}) {
    EXPECT_EQ(finder.FindListedNumber(one), (FoundCell{0})) << one;
  }
  EXPECT_EQ(finder.FindListedNumber("2"), (FoundCell{1}));
  EXPECT_EQ(finder.FindListedNumber("2.50"), (FoundCell{2}));
  EXPECT_EQ(finder.FindListedNumber("9007199254740993.0"), (FoundCell{4}));
  for (const char* text : {"1.5", "-1", "9007199254740992", "inf", "10", "0"}) {
    EXPECT_EQ(finder.FindListedNumber(text), kNotListed) << text;
  }
  EXPECT_EQ(finder.FindListedNumber("nan"), kMissing);
  const Attribute both = Made({ValueEncoding{{"1", "1.0"}}});
  EXPECT_EQ(CellFinder(both).FindListedNumber("1.0"), (FoundCell{1})) << "the text itself first";
}

TEST(CellFinderTest, OtherValuesHaveACellOnlyByItsName) {
  const Attribute attribute = Made({ValueEncoding{{"x", "y"}}, true, OutsidePolicy::kOther});
  EXPECT_EQ(attribute.size, 4);
  EXPECT_EQ(CellLabel(attribute, 2), "other");
  EXPECT_EQ(CellLabel(attribute, 3), "null");
  EXPECT_EQ(CellFinder(attribute).Find("other"), (FoundCell{2}));
  EXPECT_EQ(CellFinder(attribute).Find("z"), kNotListed);
}

TEST(CellFinderTest, FindsDates) {
  const Attribute attribute = Made(
      {DateEncoding{*ParseDay("2013-01-15"), *ParseDay("2013-03-20"), DateStep::kMonth}, true});
  EXPECT_EQ(attribute.size, 4);
  EXPECT_EQ(CellLabel(attribute, 2), "2013-03");
  const CellFinder finder(attribute);
  EXPECT_EQ(finder.Find("2013-01-15"), (FoundCell{0}));
  EXPECT_EQ(finder.Find("2013-03-20 23:59:59"), (FoundCell{2}));
  EXPECT_EQ(finder.Find("2013-01-14"), (FoundCell{0, Fault::kBelow})) << "the cell is for clamping";
  EXPECT_EQ(finder.Find("2013-03-21"), (FoundCell{2, Fault::kAbove}));
  for (const char* text : {"2013-02-30", "2013-02", "", "x", "41289"}) {
    EXPECT_EQ(finder.Find(text), (FoundCell{FoundCell::kNoCell, Fault::kNotDate})) << text;
  }
  EXPECT_THROW(finder.Find(int64_t{1}), Error);
  EXPECT_THROW(finder.Find(1.0), Error);
}

TEST(CellFinderTest, FindsPeriodsOfWholeCells) {
  const Attribute days =
      Made({DateEncoding{*ParseDay("2013-01-01"), *ParseDay("2013-12-31"), DateStep::kDay}});
  const CellFinder finder(days);
  EXPECT_EQ(finder.FindPeriod("2013-01-02"), (CellRange{1, 1}));
  EXPECT_EQ(finder.FindPeriod("2013-02"), (CellRange{31, 58}));
  EXPECT_EQ(finder.FindPeriod("2013-Q1"), (CellRange{0, 89}));
  EXPECT_EQ(finder.FindPeriod("2013"), (CellRange{0, 364}));
  EXPECT_EQ(finder.FindPeriod("2013-W01"), std::nullopt) << "begins before the domain";
  EXPECT_EQ(finder.FindPeriod("2014"), std::nullopt);
  const Attribute months =
      Made({DateEncoding{*ParseDay("2013-01-15"), *ParseDay("2013-12-31"), DateStep::kMonth}});
  EXPECT_EQ(CellFinder(months).FindPeriod("2013-01"), (CellRange{0, 0})) << "its label";
  EXPECT_EQ(CellFinder(months).FindPeriod("2013"), (CellRange{0, 11}));
  EXPECT_THROW(CellFinder(months).FindPeriod("2013-01-20"), Error);
  EXPECT_THROW(CellFinder(months).FindPeriod("2013-W05"), Error);
}

TEST(CellFinderTest, FindsPartsOfDates) {
  const Attribute weekday = Made({PartEncoding{DatePart::kWeekday}});
  EXPECT_EQ(weekday.size, 7);
  EXPECT_EQ(CellLabel(weekday, 0), "Monday");
  EXPECT_EQ(CellFinder(weekday).Find("2013-01-05T10:00"), (FoundCell{5}));
  const Attribute hour = Made({PartEncoding{DatePart::kHour}});
  EXPECT_EQ(CellFinder(hour).Find("2013-01-05 10:00"), (FoundCell{10}));
  EXPECT_EQ(CellFinder(hour).Find("2013-01-05"), (FoundCell{FoundCell::kNoCell, Fault::kNoTime}));
  EXPECT_EQ(CellFinder(hour).Find("10"), (FoundCell{FoundCell::kNoCell, Fault::kNotDate}));
}

TEST(CellFinderTest, RefusesNumbersWhereTheyMeanNothing) {
  const Attribute listed = Made({ValueEncoding{{"x", "y"}}});
  EXPECT_THROW(CellFinder(listed).Find(int64_t{1}), Error);
  EXPECT_THROW(CellFinder(listed).Find(1.0), Error);
  const Attribute cut = Made({CutEncoding{{1}}});
  EXPECT_THROW(CellFinder(cut).Find(int64_t{1}), Error);
}

}  // namespace
}  // namespace residua
