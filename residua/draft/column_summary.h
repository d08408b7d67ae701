#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace residua {

// How many of the values added are different, in memory that does not grow with them: exact while
// they are few; later only a share of all hashes is kept, so that the number is an estimate, and
// rare repetitions are missed.
class DistinctCounter {
 public:
  void Add(std::string_view value);
  bool all_different() const { return all_different_; }
  double num_different() const;

 private:
  bool all_different_ = true;
  uint64_t largest_kept_ = UINT64_MAX;
  std::unordered_set<uint64_t> kept_;  // hashes of at most `largest_kept_`
};

// What drafting a domain needs to know about one column, in memory that does not grow with the
// rows. Text that may be a number is read as measuring would read it.
class ColumnSummary {
 public:
  // The texts that are taken for missing values, wherever text is read.
  static std::span<const std::string_view> MissingTexts();
  // If there are more different values than this, they are not listed.
  static constexpr size_t kMaxListed = 50;

  void AddMissing() { ++num_missing_; }
  void Add(int64_t value);
  void Add(double value);
  void Add(std::string_view text);
  // Text that is never a number, nor a date.
  void AddLabel(std::string_view text);
  // The text of a column of dates or timestamps.
  void AddDate(std::string_view text);

  int64_t num_missing() const { return num_missing_; }
  int64_t num_values() const { return num_values_; }
  // Which of MissingTexts there are, one bit each.
  uint32_t missing_texts() const { return missing_texts_; }
  bool all_different() const { return distinct_.all_different(); }
  double num_different() const { return distinct_.num_different(); }

  // Dates, between `first_day` and `last_day`; all with a time.
  bool is_date() const { return num_values_ > 0 && num_dates_ == num_values_; }
  bool has_time() const { return is_date() && num_times_ == num_values_; }
  int64_t first_day() const { return first_day_; }
  int64_t last_day() const { return last_day_; }
  // Dates that are not written like 2013-01-31, such as 31/1/2013.
  bool is_other_date() const { return num_values_ > 0 && num_other_dates_ == num_values_; }

  // Numbers: at least one is finite, and nothing is text. NaN may be among them.
  bool is_number() const;
  bool has_nan() const { return num_nan_ > 0; }
  // A column of numbers, all of them NaN; or some infinite, and none finite.
  bool is_nan() const { return num_values_ > 0 && num_nan_ == num_values_; }
  bool is_infinite() const;
  // Neither fractions nor infinities.
  bool is_whole() const { return is_number() && all_whole_; }
  // Whole numbers that all fit 64 bits, between `first` and `last`.
  bool has_range() const { return is_whole() && all_in_range_; }
  int64_t first() const { return first_; }
  int64_t last() const { return last_; }
  // Finite numbers, each equally likely to be in the sample.
  const std::vector<double>& sample() const { return sample_; }
  // Most values are numbers, and some are text.
  bool is_mostly_number() const;

  // Text: sorted, the numbers in it by their size, if there are at most kMaxListed.
  bool has_list() const { return !too_many_; }
  std::vector<std::string> values() const;

  // A single value, and nothing missing.
  bool is_constant() const;

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  void AddNumber(double value);
  void AddWhole(int64_t value);
  void AddToSample(double value);
  void AddToList(std::string_view text);

  int64_t num_missing_ = 0;
  int64_t num_values_ = 0;
  int64_t num_numbers_ = 0;  // NaN and infinities included
  int64_t num_nan_ = 0;
  int64_t num_finite_ = 0;
  bool all_whole_ = true;
  bool all_in_range_ = true;
  int64_t first_ = INT64_MAX;
  int64_t last_ = INT64_MIN;
  double lowest_ = 0;  // of the finite numbers
  double highest_ = 0;
  std::vector<double> sample_;
  std::minstd_rand random_;  // always the same: a draft is not private
  bool too_many_ = false;
  std::unordered_set<std::string, TextHash, std::equal_to<>> listed_;
  uint32_t missing_texts_ = 0;
  int64_t num_dates_ = 0;
  int64_t num_other_dates_ = 0;
  int64_t num_times_ = 0;
  int64_t first_day_ = INT64_MAX;
  int64_t last_day_ = INT64_MIN;
  DistinctCounter distinct_;
};

}  // namespace residua
