#include "residua/model/date.h"

#include <gtest/gtest.h>

namespace residua {
namespace {

int64_t Day(std::string_view text) { return ParseDay(text).value(); }

TEST(DateTest, ReadsDaysOfTheCalendarAlone) {
  EXPECT_EQ(Day("1970-01-01"), 0);
  EXPECT_EQ(Day("1969-12-31"), -1);
  EXPECT_EQ(Day("2000-03-01") - Day("2000-02-28"), 2) << "a leap year";
  EXPECT_EQ(Day("1900-03-01") - Day("1900-02-28"), 1) << "none";
  EXPECT_EQ(Day("0001-01-01"), kFirstDay);
  EXPECT_EQ(Day("9999-12-31"), kLastDay);
  for (const char* text : {"2013-02-30", "2013-02-29", "2013-13-01", "2013-00-01", "2013-01-00",
                           "0000-01-01", "2013-1-1", "20130101", "2013-01-01 ", "2013-01-01x",
                           "-013-01-01", "2013/01/01", "+013-01-01", "", "infinity"}) {
    EXPECT_FALSE(ParseDay(text)) << text;
  }
}

// Day after day, against counting.
TEST(DateTest, PeriodsAreConsecutiveAndHoldTheirDays) {
  for (const auto& [every, name] : kDateSteps) {
    int64_t period = PeriodOf(Day("1967-12-25"), every);
    for (int64_t day = Day("1967-12-26"); day < Day("2033-01-10"); ++day) {
      const int64_t next = PeriodOf(day, every);
      ASSERT_TRUE(next == period || next == period + 1) << DayText(day) << name;
      const DayRange days = DaysOf(next, every);
      ASSERT_LE(days.first, day);
      ASSERT_GE(days.last, day);
      ASSERT_EQ(next == period + 1, days.first == day) << DayText(day) << name;
      ASSERT_EQ(ParsePeriod(PeriodLabel(next, every)), days) << PeriodLabel(next, every);
      period = next;
    }
  }
}

TEST(DateTest, LabelsAreThoseOfTheStandard) {
  const auto label = [](std::string_view day, DateStep every) {
    return PeriodLabel(PeriodOf(Day(day), every), every);
  };
  EXPECT_EQ(label("2013-02-03", DateStep::kDay), "2013-02-03");
  EXPECT_EQ(label("2013-02-03", DateStep::kWeek), "2013-W05") << "a Sunday";
  EXPECT_EQ(label("2013-02-04", DateStep::kWeek), "2013-W06");
  EXPECT_EQ(label("2012-12-31", DateStep::kWeek), "2013-W01") << "the year of its Thursday";
  EXPECT_EQ(label("2021-01-03", DateStep::kWeek), "2020-W53");
  EXPECT_EQ(label("2013-02-03", DateStep::kMonth), "2013-02");
  EXPECT_EQ(label("2013-12-31", DateStep::kQuarter), "2013-Q4");
  EXPECT_EQ(label("0001-01-01", DateStep::kYear), "0001");
  for (const char* text : {"2013-W53", "2013-W00", "2013-Q5", "2013-Q0", "2013-13", "2013-00",
                           "2013-", "213", "2013-w05", "2013-W5", "0000", "2013-01-32"}) {
    EXPECT_FALSE(ParsePeriod(text)) << text;
  }
}

TEST(DateTest, TimesAreCutDown) {
  const int64_t day = Day("2013-01-05");
  EXPECT_EQ(ParseMoment("2013-01-05"), (Moment{day, std::nullopt}));
  EXPECT_EQ(ParseMoment(" 2013-01-05 23:59 "), (Moment{day, 23}));
  for (const char* text :
       {"2013-01-05 05:00:00", "2013-01-05T05:59:60", "2013-01-05 05:00:00.123456789",
        "2013-01-05T05:30Z", "2013-01-05 05:30:00+00", "2013-01-05T07:00:00+02:00",
        "2013-01-05 02:00-0300", "2013-01-05 05:53:28+00:53:28"}) {
    EXPECT_EQ(ParseMoment(text), (Moment{day, 5})) << text;
  }
  EXPECT_EQ(ParseMoment("2013-01-05T00:30+01:00"), (Moment{day - 1, 23})) << "taken in UTC";
  EXPECT_EQ(ParseMoment("2013-01-05T23:30-01:00"), (Moment{day + 1, 0}));
  for (const char* text :
       {"2013-01-05 24:00", "2013-01-05 5:00", "2013-01-05 05:60", "2013-01-05T",
        "2013-01-05 05:00:00.", "2013-01-05 05:00:00 Berlin", "2013-01-05+01:00",
        "2013-01-05 05:00:00+", "0044-03-15 (BC)", "2013-02-30 05:00", "05:00"}) {
    EXPECT_FALSE(ParseMoment(text)) << text;
  }
}

TEST(DateTest, PartsRecur) {
  EXPECT_EQ(
      PartLabel(DatePart::kWeekday, PartOf({Day("2013-01-05"), {}}, DatePart::kWeekday).value()),
      "Saturday");
  EXPECT_EQ(
      PartLabel(DatePart::kWeekday, PartOf({Day("1969-12-29"), {}}, DatePart::kWeekday).value()),
      "Monday");
  EXPECT_EQ(PartLabel(DatePart::kMonth, PartOf({Day("2013-12-31"), {}}, DatePart::kMonth).value()),
            "December");
  EXPECT_EQ(PartLabel(DatePart::kHour, PartOf({0, 23}, DatePart::kHour).value()), "23");
  EXPECT_FALSE(PartOf({0, std::nullopt}, DatePart::kHour));
}

}  // namespace
}  // namespace residua
