#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/data/source_test.h"

namespace residua {
namespace {

class DateColumnsTest : public SourceTest {};

// Weekdays and months from two sources that have the same rows, in text and in each type.
TEST_F(DateColumnsTest, ReadsDatesFromEverySource) {
  const std::string rows =
      "(VALUES ('2013-01-05 23:30:00'), ('2013-03-31 00:00:00'), ('2013-01-01 07:59:59.5')) t(v)";
  Sql("x.duckdb", {"CREATE TABLE stamps AS SELECT v::TIMESTAMP AS v FROM " + rows,
                   "CREATE TABLE nanos AS SELECT v::TIMESTAMP_NS AS v FROM " + rows,
                   "CREATE TABLE days AS SELECT v::TIMESTAMP::DATE AS v FROM " + rows,
                   "COPY (SELECT v::TIMESTAMP AS v FROM " + rows + ") TO 'stamps.parquet'",
                   "COPY (SELECT v::TIMESTAMP::DATE AS v FROM " + rows + ") TO 'days.parquet'",
                   "COPY (SELECT v FROM " + rows + ") TO 'text.csv'",
                   "COPY (SELECT v::TIMESTAMP::DATE AS v FROM " + rows + ") TO 'days.csv'",
                   "COPY (SELECT v FROM " + rows + ") TO 'text.jsonl' (FORMAT json)"});
  const std::vector<DataSource> with_times = {{"stamps.parquet", "", ""},
                                              {"text.csv", "", ""},
                                              {"text.jsonl", "", ""},
                                              {"", "x.duckdb", "SELECT v FROM stamps"},
                                              {"", "x.duckdb", "SELECT v FROM nanos"}};
  std::vector<DataSource> sources = with_times;
  sources.push_back({"days.parquet", "", ""});
  sources.push_back({"days.csv", "", ""});
  sources.push_back({"", "x.duckdb", "SELECT v FROM days"});
  for (const DataSource& source : sources) {
    SCOPED_TRACE(source.source + source.query);
    EXPECT_EQ(ReadOne(source, Dates("v", "2013-01-01", "2013-12-31", DateStep::kDay)),
              (Codes{4, 89, 0}));
    EXPECT_EQ(ReadOne(source, Dates("v", "2013-01-01", "2013-12-31", DateStep::kQuarter)),
              (Codes{0, 0, 0}));
    EXPECT_EQ(ReadOne(source, Dates("v", "2013-01-01", "2013-12-31", DateStep::kMonth)),
              (Codes{0, 2, 0}));
    EXPECT_EQ(ReadOne(source, Part("v", DatePart::kWeekday)), (Codes{5, 6, 1}));
    EXPECT_EQ(ReadOne(source, Dates("v", "2013-01-02", "2013-01-31", DateStep::kDay,
                                    OutsidePolicy::kClamp)),
              (Codes{3, 29, 0}));
  }
  for (const DataSource& source : with_times) {
    EXPECT_EQ(ReadOne(source, Part("v", DatePart::kHour)), (Codes{23, 0, 7})) << source.source;
  }
  EXPECT_EQ(MessageOf({"days.parquet", "", ""}, Part("v", DatePart::kHour)),
            "days.parquet: column 'v' is of type DATE, which cannot be read as a date with a time; "
            "give attributes.v values, or convert it in a query");
  EXPECT_EQ(MessageOf({"days.csv", "", ""}, Part("v", DatePart::kHour)),
            "days.csv: column 'v' has the value '2013-01-05' (row 1), a date without a time; set "
            "outside = \"drop\" or \"null\" (with null = true) for attributes.v, or choose another "
            "part");
}

// Whatever zone the machine is in.
TEST_F(DateColumnsTest, TimesWithAnOffsetAreTakenInUtc) {
  setenv("TZ", "America/New_York", 1);
  Sql("", {"COPY (SELECT make_timestamptz(1357430400000000) AS v) TO 'zone.parquet'"});
  Write("zone.csv", "v\n2013-01-06T01:00:00+01:00\n");
  for (const std::string file : {"zone.parquet", "zone.csv"}) {
    EXPECT_EQ(ReadOne({file, "", ""}, Dates("v", "2013-01-01", "2013-01-31", DateStep::kDay)),
              (Codes{5}))
        << file;
    EXPECT_EQ(ReadOne({file, "", ""}, Part("v", DatePart::kHour)), (Codes{0})) << file;
  }
  unsetenv("TZ");
}

TEST_F(DateColumnsTest, WhatIsNoDateFollowsThePolicy) {
  Write("t.csv", "v\n2013-01-05\n2013-02-30\n2014-01-01\n\nx\n");
  const DataSource source{"t.csv", "", ""};
  const auto of = [](OutsidePolicy outside, bool null_cell) {
    return Dates("v", "2013-01-01", "2013-12-31", DateStep::kMonth, outside, null_cell);
  };
  EXPECT_EQ(ReadOne(source, of(kDrop, false)), (Codes{0}));
  EXPECT_EQ(ReadOne(source, of(kNull, true)), (Codes{0, 12, 12, 12, 12}));
  EXPECT_EQ(ReadOne(source, of(kClamp, true)), (Codes{0, 12, 11, 12, 12}));
  EXPECT_FALSE(StoppingValuesOf(of(kClamp, true).encoding).any());
  EXPECT_EQ(MessageOf(source, of(kError, false)),
            "t.csv: column 'v' has the value '2013-02-30' (row 2), not a date like 2013-01-31 or "
            "2013-01-31 23:59; set outside = \"drop\" or \"null\" (with null = true) for "
            "attributes.v, or convert it in a query");
  Write("late.csv", "v\n2014-01-01\n");
  EXPECT_EQ(MessageOf({"late.csv", "", ""}, of(kError, false)),
            "late.csv: column 'v' has the value 2014-01-01 (row 1), outside 2013-01-01 to "
            "2013-12-31; set outside = \"clamp\", \"drop\" or \"null\" (with null = true) for "
            "attributes.v, or widen dates");
  Sql("", {"COPY (SELECT 20130105 AS v) TO 'n.parquet'",
           "COPY (SELECT DATE '2013-01-05' AS v) TO 'd.parquet'"});
  EXPECT_EQ(MessageOf({"n.parquet", "", ""}, of(kError, false)),
            "n.parquet: column 'v' is of type INTEGER, which cannot be read as a date; give "
            "attributes.v values, or convert it in a query");
  EXPECT_EQ(MessageOf({"d.parquet", "", ""}, Integers("v", 0, 3)),
            "d.parquet: column 'v' is of type DATE, which cannot be read as an integer; give "
            "attributes.v values, or convert it in a query");
}

}  // namespace
}  // namespace residua
