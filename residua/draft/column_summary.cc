#include "residua/draft/column_summary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "residua/base/number_text.h"
#include "residua/model/date.h"

namespace residua {
namespace {

constexpr size_t kMaxHashes = size_t{1} << 14;
// The deciles of a sample this large are off by 1 % of the rows: less than rounding changes them.
constexpr size_t kMaxSample = size_t{1} << 12;

template <typename Value>
std::string_view BytesOf(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

constexpr std::array<std::string_view, 12> kMissingTexts = {
    "NA", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan", "-", "--", "?", "."};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Three numbers with the same mark between them, of which the last may be a year.
bool IsOtherDate(std::string_view text) {
  size_t k = 0;
  const auto take_digits = [&](size_t most) {
    const size_t start = k;
    while (k < text.size() && k - start < most && IsDigit(text[k])) ++k;
    return k > start;
  };
  if (!take_digits(4) || k == text.size()) return false;
  const char mark = text[k++];
  if (mark != '/' && mark != '.' && mark != '-') return false;
  if (!take_digits(2) || k == text.size() || text[k++] != mark) return false;
  return take_digits(4) && (k == text.size() || text[k] == ' ');
}

// Takes the digits off the front, without their leading zeros.
std::string_view TakeDigits(std::string_view* text) {
  size_t end = 0;
  while (end < text->size() && IsDigit((*text)[end])) ++end;
  std::string_view digits = text->substr(0, end);
  text->remove_prefix(end);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

// Numbers by their size, then text, in which digits count as numbers: 5-9 comes before 10-14.
bool ComesBefore(const std::string& a, const std::string& b) {
  const auto number_of = [](const std::string& text) {
    const auto number = ParseNumber(TrimmedNumber(text));
    return number && !std::isnan(*number) ? number : std::nullopt;
  };
  const auto number_a = number_of(a);
  const auto number_b = number_of(b);
  if (number_a.has_value() != number_b.has_value()) return number_a.has_value();
  if (number_a && *number_a != *number_b) return *number_a < *number_b;
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (IsDigit(rest_a.front()) && IsDigit(rest_b.front())) {
      const std::string_view digits_a = TakeDigits(&rest_a);
      const std::string_view digits_b = TakeDigits(&rest_b);
      if (digits_a.size() != digits_b.size()) return digits_a.size() < digits_b.size();
      if (digits_a != digits_b) return digits_a < digits_b;
    } else {
      if (rest_a.front() != rest_b.front()) return rest_a < rest_b;
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
    }
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;
}

}  // namespace

std::span<const std::string_view> ColumnSummary::MissingTexts() { return kMissingTexts; }

double DistinctCounter::num_different() const {
  return static_cast<double>(kept_.size()) * (0x1p64 / (static_cast<double>(largest_kept_) + 1));
}

void DistinctCounter::Add(std::string_view value) {
  const uint64_t hash = std::hash<std::string_view>()(value);
  if (hash > largest_kept_) return;
  if (!kept_.insert(hash).second) {
    all_different_ = false;
  } else if (kept_.size() > kMaxHashes) {
    largest_kept_ /= 2;
    std::erase_if(kept_, [&](uint64_t kept) { return kept > largest_kept_; });
  }
}

void ColumnSummary::Add(int64_t value) {
  ++num_values_;
  distinct_.Add(BytesOf(value));
  AddWhole(value);
}

void ColumnSummary::Add(double value) {
  ++num_values_;
  distinct_.Add(BytesOf(value));
  AddNumber(value);
}

void ColumnSummary::Add(std::string_view text) {
  const auto missing = std::find(kMissingTexts.begin(), kMissingTexts.end(), text);
  if (missing != kMissingTexts.end()) {
    missing_texts_ |= uint32_t{1} << (missing - kMissingTexts.begin());
    AddMissing();
    return;
  }
  AddDate(text);
  if (IsOtherDate(text)) ++num_other_dates_;
  const std::string_view trimmed = TrimmedNumber(text);
  if (const auto whole = ParseInteger(trimmed)) {
    AddWhole(*whole);
  } else if (const auto number = ParseNumber(trimmed)) {
    AddNumber(*number);
  }
}

void ColumnSummary::AddLabel(std::string_view text) {
  ++num_values_;
  distinct_.Add(text);
  AddToList(text);
}

void ColumnSummary::AddDate(std::string_view text) {
  AddLabel(text);
  const auto moment = ParseMoment(text);
  if (!moment || moment->day < kFirstDay || moment->day > kLastDay) return;
  ++num_dates_;
  if (moment->hour) ++num_times_;
  first_day_ = std::min(first_day_, moment->day);
  last_day_ = std::max(last_day_, moment->day);
}

void ColumnSummary::AddToList(std::string_view text) {
  if (too_many_ || listed_.contains(text)) return;
  listed_.emplace(text);
  if (listed_.size() <= kMaxListed) return;
  too_many_ = true;
  listed_ = {};
}

void ColumnSummary::AddNumber(double value) {
  if (std::isfinite(value) && value == std::trunc(value) && value >= -kTwoTo63 &&
      value < kTwoTo63) {
    AddWhole(static_cast<int64_t>(value));
    return;
  }
  ++num_numbers_;
  if (std::isnan(value)) {
    ++num_nan_;
    return;
  }
  all_in_range_ = false;
  if (!std::isfinite(value) || value != std::trunc(value)) all_whole_ = false;
  if (std::isfinite(value)) AddToSample(value);
}

void ColumnSummary::AddWhole(int64_t value) {
  ++num_numbers_;
  first_ = std::min(first_, value);
  last_ = std::max(last_, value);
  AddToSample(static_cast<double>(value));
}

void ColumnSummary::AddToSample(double value) {
  ++num_finite_;
  lowest_ = num_finite_ == 1 ? value : std::min(lowest_, value);
  highest_ = num_finite_ == 1 ? value : std::max(highest_, value);
  if (sample_.size() < kMaxSample) {
    sample_.push_back(value);
    return;
  }
  const auto place = std::uniform_int_distribution<int64_t>(0, num_finite_ - 1)(random_);
  if (place < static_cast<int64_t>(kMaxSample)) sample_[static_cast<size_t>(place)] = value;
}

bool ColumnSummary::is_number() const { return num_finite_ > 0 && num_numbers_ == num_values_; }

bool ColumnSummary::is_infinite() const {
  return num_finite_ == 0 && num_numbers_ == num_values_ && num_nan_ < num_values_ &&
         listed_.empty() && !too_many_;
}

bool ColumnSummary::is_mostly_number() const {
  return num_numbers_ < num_values_ && 10 * num_numbers_ >= 9 * num_values_;
}

bool ColumnSummary::is_constant() const {
  if (num_values_ == 0 || num_missing_ > 0) return false;
  if (has_range()) return first_ == last_;
  if (is_number()) return num_finite_ == num_values_ && lowest_ == highest_;
  return !too_many_ && listed_.size() == 1;
}

std::vector<std::string> ColumnSummary::values() const {
  std::vector<std::string> values(listed_.begin(), listed_.end());
  std::sort(values.begin(), values.end(), ComesBefore);
  return values;
}

}  // namespace residua
