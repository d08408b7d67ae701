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
  EXPECT_EQ(finder.Find(kNan), kNotInteger);
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
  for (const char* text : {"", " ", "x", "7x", "+-7", "nan", "0x7"}) {
    EXPECT_EQ(finder.Find(text), kNotInteger) << text;
  }
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
  EXPECT_EQ(finder.Find(kNan), kNotNumber);
  EXPECT_EQ(finder.Find("x"), kNotNumber);
}

TEST(CellFinderTest, FindsListedValuesAsTheyAre) {
  const Attribute attribute = Made({ValueEncoding{{"x", "7", ""}}});
  const CellFinder finder(attribute);
  EXPECT_EQ(finder.Find("x"), (FoundCell{0}));
  EXPECT_EQ(finder.Find("7"), (FoundCell{1}));
  EXPECT_EQ(finder.Find(""), (FoundCell{2}));
  for (const char* text : {"X", " x", "7.0", "+7", "null"}) {
    EXPECT_EQ(finder.Find(text), kNotListed) << text;
  }
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
