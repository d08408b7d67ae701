#include "residua/model/date.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "residua/base/error.h"

namespace residua {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

constexpr int64_t kSecondsOfDay = 86400;

int64_t FloorOf(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

year_month_day CalendarOf(int64_t day) {
  return year_month_day(sys_days(days(static_cast<int>(day))));
}

int YearOf(const year_month_day& date) { return static_cast<int>(date.year()); }

int MonthOf(const year_month_day& date) {
  return static_cast<int>(static_cast<unsigned>(date.month()));
}

std::optional<int64_t> DayOf(int year, int month, int day) {
  const year_month_day date(std::chrono::year(year),
                            std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day)));
  if (year < 1 || !date.ok()) return std::nullopt;
  return sys_days(date).time_since_epoch().count();
}

int64_t FirstOfMonth(int64_t month_number) {
  return *DayOf(static_cast<int>(month_number / 12), static_cast<int>(month_number % 12) + 1, 1);
}

int64_t LastOfMonth(int64_t month_number) {
  const year_month_day first = CalendarOf(FirstOfMonth(month_number));
  return sys_days(first.year() / first.month() / std::chrono::last).time_since_epoch().count();
}

// Takes the text apart from its front.
class DateScanner {
 public:
  explicit DateScanner(std::string_view text) : rest_(text) {}

  bool is_done() const { return rest_.empty(); }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Exactly `num_digits` digits.
  std::optional<int> Digits(size_t num_digits) {
    if (rest_.size() < num_digits) return std::nullopt;
    int value = 0;
    for (size_t k = 0; k < num_digits; ++k) {
      if (!IsDigit(rest_[k])) return std::nullopt;
      value = 10 * value + (rest_[k] - '0');
    }
    rest_.remove_prefix(num_digits);
    return value;
  }

  // The same, up to `largest`.
  std::optional<int> DigitsUpTo(int largest) {
    const auto value = Digits(2);
    return value && *value <= largest ? value : std::nullopt;
  }

  // Any number of digits; whether there is one.
  bool SkipDigits() {
    const size_t before = rest_.size();
    while (!rest_.empty() && IsDigit(rest_.front())) rest_.remove_prefix(1);
    return rest_.size() < before;
  }

  std::optional<int64_t> Day() {
    const auto year = Digits(4);
    if (!year || !Take('-')) return std::nullopt;
    const auto month = Digits(2);
    if (!month || !Take('-')) return std::nullopt;
    const auto day = Digits(2);
    return day ? DayOf(*year, *month, *day) : std::nullopt;
  }

  // Seconds since midnight, from HH:MM[:SS[.FRACTION]].
  std::optional<int64_t> Time() {
    const auto hour = DigitsUpTo(23);
    if (!hour || !Take(':')) return std::nullopt;
    const auto minute = DigitsUpTo(59);
    if (!minute) return std::nullopt;
    int64_t seconds = *hour * 3600 + *minute * 60;
    if (!Take(':')) return seconds;
    const auto second = DigitsUpTo(60);
    if (!second) return std::nullopt;
    if ((Take('.') || Take(',')) && !SkipDigits()) return std::nullopt;
    return seconds + std::min(*second, 59);  // a leap second belongs to its minute
  }

  // The rest as seconds ahead of UTC: Z, +HH, +HHMM, +HH:MM or +HH:MM:SS.
  std::optional<int64_t> Offset() {
    if (Take('Z') || Take('z')) return is_done() ? std::optional<int64_t>(0) : std::nullopt;
    const bool is_behind = Take('-');
    if (!is_behind && !Take('+')) return std::nullopt;
    int64_t seconds = 0;
    for (const int64_t unit : {3600, 60, 1}) {
      const auto part = DigitsUpTo(59);
      if (!part) return std::nullopt;
      seconds += *part * unit;
      if (is_done()) return is_behind ? -seconds : seconds;
      Take(':');
    }
    return std::nullopt;
  }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  std::string_view rest_;
};

std::string_view WithoutSpaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<int64_t> ParseDay(std::string_view text) {
  DateScanner scanner(text);
  const auto day = scanner.Day();
  return scanner.is_done() ? day : std::nullopt;
}

std::string DayText(int64_t day) {
  const year_month_day date = CalendarOf(day);
  return fmt::format("{:04}-{:02}-{:02}", YearOf(date), MonthOf(date),
                     static_cast<unsigned>(date.day()));
}

std::optional<Moment> ParseMoment(std::string_view text) {
  DateScanner scanner(WithoutSpaces(text));
  const auto day = scanner.Day();
  if (!day) return std::nullopt;
  if (scanner.is_done()) return Moment{*day, std::nullopt};
  if (!scanner.Take('T') && !scanner.Take(' ')) return std::nullopt;
  const auto time = scanner.Time();
  if (!time) return std::nullopt;
  int64_t seconds = *time;
  if (!scanner.is_done()) {
    const auto offset = scanner.Offset();
    if (!offset) return std::nullopt;
    seconds -= *offset;
  }
  const int64_t shift = FloorOf(seconds, kSecondsOfDay);
  return Moment{*day + shift, static_cast<int>((seconds - shift * kSecondsOfDay) / 3600)};
}

int64_t PeriodOf(int64_t day, DateStep every) {
  if (every == DateStep::kDay) return day;
  if (every == DateStep::kWeek) return FloorOf(day + 3, 7);  // 1970-01-01 was a Thursday
  const year_month_day date = CalendarOf(day);
  const int64_t month_number = int64_t{12} * YearOf(date) + MonthOf(date) - 1;
  if (every == DateStep::kMonth) return month_number;
  return every == DateStep::kQuarter ? month_number / 3 : month_number / 12;
}

DayRange DaysOf(int64_t period, DateStep every) {
  switch (every) {
    case DateStep::kDay:
      return {period, period};
    case DateStep::kWeek:
      return {7 * period - 3, 7 * period + 3};
    case DateStep::kMonth:
      return {FirstOfMonth(period), LastOfMonth(period)};
    case DateStep::kQuarter:
      return {FirstOfMonth(3 * period), LastOfMonth(3 * period + 2)};
    case DateStep::kYear:
      return {FirstOfMonth(12 * period), LastOfMonth(12 * period + 11)};
  }
  RESIDUA_CHECK(false);
}

std::string PeriodLabel(int64_t period, DateStep every) {
  switch (every) {
    case DateStep::kDay:
      return DayText(period);
    case DateStep::kWeek: {
      // A week belongs to the year of its Thursday.
      const int64_t thursday = 7 * period;
      const int year = YearOf(CalendarOf(thursday));
      return fmt::format("{:04}-W{:02}", year, (thursday - *DayOf(year, 1, 1)) / 7 + 1);
    }
    case DateStep::kMonth:
      return fmt::format("{:04}-{:02}", period / 12, period % 12 + 1);
    case DateStep::kQuarter:
      return fmt::format("{:04}-Q{}", period / 4, period % 4 + 1);
    case DateStep::kYear:
      return fmt::format("{:04}", period);
  }
  RESIDUA_CHECK(false);
}

std::optional<DayRange> ParsePeriod(std::string_view text) {
  if (const auto day = ParseDay(text)) return DayRange{*day, *day};
  DateScanner scanner(text);
  const auto year = scanner.Digits(4);
  if (!year || *year < 1) return std::nullopt;
  int64_t period = *year;
  auto every = DateStep::kYear;
  if (!scanner.is_done()) {
    if (!scanner.Take('-')) return std::nullopt;
    std::optional<int> number;
    if (scanner.Take('W')) {
      every = DateStep::kWeek;
      number = scanner.Digits(2);
      period = PeriodOf(*DayOf(*year, 1, 4), every) - 1;  // 4 January is in week 1
    } else if (scanner.Take('Q')) {
      every = DateStep::kQuarter;
      number = scanner.Digits(1);
      period = 4 * period - 1;
    } else {
      every = DateStep::kMonth;
      number = scanner.Digits(2);
      period = 12 * period - 1;
    }
    if (!number) return std::nullopt;
    period += *number;
  }
  // Months beyond 12 and weeks that the year does not have get another label.
  if (PeriodLabel(period, every) != text) return std::nullopt;
  return DaysOf(period, every);
}

int64_t NumParts(DatePart part) {
  switch (part) {
    case DatePart::kWeekday:
      return 7;
    case DatePart::kHour:
      return 24;
    case DatePart::kMonth:
      return 12;
  }
  RESIDUA_CHECK(false);
}

std::string_view PartLabel(DatePart part, int64_t cell) {
  constexpr std::array<std::string_view, 7> kWeekdays = {
      "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
  constexpr std::array<std::string_view, 24> kHours = {
      "0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11",
      "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23"};
  constexpr std::array<std::string_view, 12> kMonths = {
      "January", "February", "March",     "April",   "May",      "June",
      "July",    "August",   "September", "October", "November", "December"};
  RESIDUA_CHECK(cell >= 0 && cell < NumParts(part));
  const auto k = static_cast<size_t>(cell);
  switch (part) {
    case DatePart::kWeekday:
      return kWeekdays[k];
    case DatePart::kHour:
      return kHours[k];
    case DatePart::kMonth:
      return kMonths[k];
  }
  RESIDUA_CHECK(false);
}

std::optional<int64_t> PartOf(const Moment& moment, DatePart part) {
  switch (part) {
    case DatePart::kWeekday:
      return moment.day + 3 - 7 * PeriodOf(moment.day, DateStep::kWeek);
    case DatePart::kHour:
      return moment.hour;
    case DatePart::kMonth:
      return MonthOf(CalendarOf(moment.day)) - 1;
  }
  RESIDUA_CHECK(false);
}

}  // namespace residua
