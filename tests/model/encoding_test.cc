#include "residua/model/encoding.h"

#include <gtest/gtest.h>

#include <limits>

#include "residua/model/domain.h"

namespace residua {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

std::string MessageOf(const Encoding& encoding, int64_t size = 2) {
  try {
    CheckEncoding(encoding, size, "attributes.a");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    return error.what();
  }
  return "";
}

TEST(EncodingTest, CountsCells) {
  EXPECT_EQ(NumCells({}), std::nullopt) << "a bare size";
  EXPECT_EQ(NumCells({IntegerEncoding{-5, 99}}), 105);
  EXPECT_EQ(NumCells({IntegerEncoding{kLeast, kLeast + 1}, true}), 3);
  EXPECT_EQ(NumCells({CutEncoding{{1, 2.5}}}), 3);
  EXPECT_EQ(NumCells({ValueEncoding{{"x", "y"}}, true}), 3);
  EXPECT_EQ(NumCells({ValueEncoding{{"x", "y"}}, true, OutsidePolicy::kOther}), 4);
  const int64_t first = *ParseDay("2013-01-01");
  const int64_t last = *ParseDay("2013-12-31");
  EXPECT_EQ(NumCells({DateEncoding{first, last}}), 365);
  EXPECT_EQ(NumCells({DateEncoding{first, last, DateStep::kWeek}}), 53);
  EXPECT_EQ(NumCells({DateEncoding{first, last, DateStep::kMonth}, true}), 13);
  EXPECT_EQ(NumCells({DateEncoding{first, last, DateStep::kQuarter}}), 4);
  EXPECT_EQ(NumCells({DateEncoding{first, last, DateStep::kYear}}), 1);
  EXPECT_EQ(NumCells({PartEncoding{DatePart::kHour}, true}), 25);
}

TEST(EncodingTest, TakesWhatCanBeCounted) {
  EXPECT_EQ(MessageOf({}, 7), "");
  EXPECT_EQ(MessageOf({IntegerEncoding{4, 4}}, 1), "") << "too small for a domain, which says so";
  EXPECT_EQ(MessageOf({IntegerEncoding{1, Domain::kMaxAttributeSize}}, Domain::kMaxAttributeSize),
            "");
  EXPECT_EQ(MessageOf({IntegerEncoding{0, 9}, true, OutsidePolicy::kClamp}, 11), "");
  EXPECT_EQ(MessageOf({CutEncoding{{-0.5, 0, 1e300}}, true, OutsidePolicy::kNull}, 5), "");
  EXPECT_EQ(MessageOf({ValueEncoding{{"null", ""}}, false, OutsidePolicy::kDrop}, 2), "");
}

TEST(EncodingTest, NamesTheFault) {
  const std::string not_a_range = " is not an increasing range of at most 2^40 integers";
  EXPECT_EQ(MessageOf({IntegerEncoding{5, 1}}), "attributes.a.integers [5, 1]" + not_a_range);
  EXPECT_EQ(MessageOf({IntegerEncoding{0, Domain::kMaxAttributeSize}}),
            "attributes.a.integers [0, 1099511627776]" + not_a_range);
  EXPECT_EQ(MessageOf({IntegerEncoding{kLeast, kGreatest}}),
            "attributes.a.integers [-9223372036854775808, 9223372036854775807]" + not_a_range);
  EXPECT_EQ(MessageOf({IntegerEncoding{kGreatest, kLeast}}),
            "attributes.a.integers [9223372036854775807, -9223372036854775808]" + not_a_range);

  EXPECT_EQ(MessageOf({CutEncoding{}}), "attributes.a.cuts must hold at least one number");
  EXPECT_EQ(MessageOf({CutEncoding{{1, 3, 3}}}), "attributes.a.cuts must increase strictly");
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(MessageOf({CutEncoding{{bad}}}), "attributes.a.cuts must hold finite numbers");
    EXPECT_EQ(MessageOf({CutEncoding{{1, bad, 2}}}), "attributes.a.cuts must hold finite numbers");
  }

  EXPECT_EQ(MessageOf({ValueEncoding{{"x", "y", "x"}}}), "attributes.a.values lists 'x' twice");
  EXPECT_EQ(MessageOf({ValueEncoding{{"x", "null"}}, true}),
            "attributes.a.null names missing values null, and values lists 'null' too; leave one "
            "of them out");

  for (const Encoding& encoding :
       {Encoding{}, Encoding{CutEncoding{{1}}}, Encoding{ValueEncoding{{"x", "y"}}}}) {
    EXPECT_EQ(MessageOf({encoding.cells, true, OutsidePolicy::kClamp}),
              "attributes.a.outside \"clamp\" only makes sense with integers, numbers or dates = "
              "[FIRST, LAST]");
    EXPECT_EQ(MessageOf({encoding.cells, false, OutsidePolicy::kNull}),
              "attributes.a.outside \"null\" needs null = true beside it");
  }

  EXPECT_EQ(MessageOf({DateEncoding{9, 8}}),
            "attributes.a.dates [1970-01-10, 1970-01-09] is not an increasing range of dates");
  for (const DateEncoding& dates : {DateEncoding{kFirstDay - 1, 0}, DateEncoding{0, kLastDay + 1},
                                    DateEncoding{kLeast, kGreatest}}) {
    EXPECT_EQ(MessageOf({dates}), "attributes.a.dates must hold days of the years 1 to 9999");
  }
  EXPECT_EQ(MessageOf({ValueEncoding{{"x", "other"}}, false, OutsidePolicy::kOther}),
            "attributes.a.outside \"other\" adds a cell named other, and values lists 'other' too; "
            "rename the value, or choose another policy");
  EXPECT_EQ(MessageOf({IntegerEncoding{0, 3}, false, OutsidePolicy::kOther}),
            "attributes.a.outside \"other\" only makes sense with values = [...]");

  EXPECT_EQ(MessageOf({IntegerEncoding{0, 3}}, 7),
            "attributes.a.size is 7, and the encoding has 4 cells");
  EXPECT_EQ(MessageOf({ValueEncoding{{"x", "y"}}, true}, 2),
            "attributes.a.size is 2, and the encoding has 3 cells");
}

// A reader of a file can point at the line of the item.
TEST(EncodingTest, FaultsKnowTheirItem) {
  EXPECT_EQ(FindFault({CutEncoding{{1, 3, 2}}})->item, 2u);
  EXPECT_EQ(FindFault({ValueEncoding{{"x", "y", "y", "x"}}})->item, 2u);
  EXPECT_EQ(FindFault({IntegerEncoding{5, 1}})->item, std::nullopt);
  EXPECT_FALSE(FindFault({IntegerEncoding{1, 5}}).has_value());
}

}  // namespace
}  // namespace residua
