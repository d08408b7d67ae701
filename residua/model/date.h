#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "residua/base/enum_texts.h"

namespace residua {

// Days are counted from 1970-01-01, in the Gregorian calendar. The first and the last one that have
// a year of four digits are 0001-01-01 and 9999-12-31.
inline constexpr int64_t kFirstDay = -719162;
inline constexpr int64_t kLastDay = 2932896;

// The periods that dates are counted by. Weeks are those of ISO 8601: they begin on Monday.
enum class DateStep { kDay, kWeek, kMonth, kQuarter, kYear };

inline constexpr EnumTexts<DateStep, 5> kDateSteps = {{{DateStep::kDay, "day"},
                                                       {DateStep::kWeek, "week"},
                                                       {DateStep::kMonth, "month"},
                                                       {DateStep::kQuarter, "quarter"},
                                                       {DateStep::kYear, "year"}}};

// What recurs in a date: Monday..Sunday, 0..23, January..December.
enum class DatePart { kWeekday, kHour, kMonth };

inline constexpr EnumTexts<DatePart, 3> kDateParts = {
    {{DatePart::kWeekday, "weekday"}, {DatePart::kHour, "hour"}, {DatePart::kMonth, "month"}}};

struct DayRange {
  int64_t first = 0;
  int64_t last = 0;
  bool operator==(const DayRange&) const = default;
};

// A day, and its hour if the text had a time.
struct Moment {
  int64_t day = 0;
  std::optional<int> hour;
  bool operator==(const Moment&) const = default;
};

// "2013-01-05"; nothing for 2013-02-30 and any other text.
std::optional<int64_t> ParseDay(std::string_view text);
std::string DayText(int64_t day);

// A date, or a date and a time: "2013-01-05", "2013-01-05 23:30", "2013-01-05T23:30:59.5+01:00",
// with spaces around it. A time with an offset is taken in UTC, any other as it stands.
std::optional<Moment> ParseMoment(std::string_view text);

// Consecutive numbers for consecutive periods, and all days of a period.
int64_t PeriodOf(int64_t day, DateStep every);
DayRange DaysOf(int64_t period, DateStep every);
// 2013-01-05, 2013-W05, 2013-01, 2013-Q1 or 2013.
std::string PeriodLabel(int64_t period, DateStep every);
// The days of a period that is written like a label, of any length.
std::optional<DayRange> ParsePeriod(std::string_view text);

int64_t NumParts(DatePart part);
std::string_view PartLabel(DatePart part, int64_t cell);
// Nothing for the hour of a day without a time.
std::optional<int64_t> PartOf(const Moment& moment, DatePart part);

}  // namespace residua
