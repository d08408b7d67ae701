#include "residua/draft/column_summary.h"

#include <algorithm>
#include <cmath>

#include "residua/base/number_text.h"

namespace residua {
namespace {

constexpr size_t kMaxHashes = size_t{1} << 14;
// The deciles of a sample this large are off by 1 % of the rows: less than rounding changes them.
constexpr size_t kMaxSample = size_t{1} << 12;

template <typename Value>
std::string_view BytesOf(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

}  // namespace

void DuplicateDetector::Add(std::string_view value) {
  if (!all_different_) return;
  const uint64_t hash = std::hash<std::string_view>()(value);
  if (hash > largest_kept_) return;
  if (!kept_.insert(hash).second) {
    all_different_ = false;
    kept_ = {};
  } else if (kept_.size() > kMaxHashes) {
    largest_kept_ /= 2;
    std::erase_if(kept_, [&](uint64_t kept) { return kept > largest_kept_; });
  }
}

void ColumnSummary::Add(int64_t value) {
  ++num_values_;
  duplicates_.Add(BytesOf(value));
  AddWhole(value);
}

void ColumnSummary::Add(double value) {
  ++num_values_;
  duplicates_.Add(BytesOf(value));
  AddNumber(value);
}

void ColumnSummary::Add(std::string_view text) {
  AddLabel(text);
  const std::string_view trimmed = TrimmedNumber(text);
  if (const auto whole = ParseInteger(trimmed)) {
    AddWhole(*whole);
  } else if (const auto number = ParseNumber(trimmed)) {
    AddNumber(*number);
  }
}

void ColumnSummary::AddLabel(std::string_view text) {
  ++num_values_;
  duplicates_.Add(text);
  AddToList(text);
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
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace residua
