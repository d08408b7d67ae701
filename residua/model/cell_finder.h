#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/model/attribute.h"
#include "residua/model/text_places.h"

namespace residua {

// The cell of a value, or why it has none.
struct FoundCell {
  enum class Fault {
    kNone,
    kBelow,
    kAbove,
    kNotInteger,
    kNotNumber,
    kNan,  // a number that is missing
    kNotListed,
    kNotDate,
    kNoTime,  // a date, where the hour is asked for
  };
  static constexpr int64_t kNoCell = -1;

  // With a fault, the cell that clamping puts the value into: that of the nearest end or, for a
  // fraction, of the whole number below. What is no number, no date or not listed has no such cell.
  int64_t cell = kNoCell;
  Fault fault = Fault::kNone;

  bool is_found() const { return fault == Fault::kNone; }
};

// Finds the cells of an attribute's values by its encoding, which must have no fault; bare codes
// are the integers from 0. Data and questions both use it: no other code maps values to cells. It
// does not change, so threads may share it.
class CellFinder {
 public:
  // Keeps views of `attribute`.
  explicit CellFinder(const Attribute& attribute);
  explicit CellFinder(Attribute&& attribute) = delete;
  CellFinder(const CellFinder&) = delete;
  CellFinder& operator=(const CellFinder&) = delete;

  // Integers are for integer encodings and bare codes, numbers for those, cuts and the numbers of a
  // mean, of which the nearest is taken: its place among them is the cell. Text is for all
  // encodings: it is compared with listed values as it stands, and read as a date or a number
  // otherwise. A number with a decimal point that is not listed as it stands is compared as a
  // number: "1.0" is the listed 1, and "01" is not.
  FoundCell Find(int64_t value) const;
  FoundCell Find(double value) const;
  FoundCell Find(std::string_view value) const;
  // The text of a number, for listed values: 1.0 is the listed 1.
  FoundCell FindListedNumber(std::string_view value) const;

  // All cells of a period of dates, written like the label of a cell of any length: 2013-01 is one
  // cell of months, and 31 cells of days. Nothing if it is no such text or not all of it is in the
  // domain; Error{kBadInput} if it begins or ends within a cell.
  std::optional<CellRange> FindPeriod(std::string_view text) const;

  // The smallest and the largest value of integers and bare codes.
  int64_t first() const { return first_; }
  int64_t last() const { return last_; }

 private:
  using Fault = FoundCell::Fault;

  bool is_integral() const {
    return cuts_ == nullptr && !places_ && dates_ == nullptr && part_ == nullptr &&
           numbers_of_mean_ == nullptr;
  }
  FoundCell FindInteger(int64_t value) const;
  bool is_number() const {
    return is_integral() || cuts_ != nullptr || numbers_of_mean_ != nullptr;
  }
  FoundCell FindStep(double value) const;
  FoundCell FindNumberIn(std::string_view text) const;
  FoundCell FindDateIn(std::string_view text) const;
  FoundCell FindListed(std::string_view text) const;
  FoundCell FindUnlisted(std::string_view text) const;
  FoundCell FindDecimal(std::string_view text) const;

  int64_t first_ = 0;
  int64_t last_ = 0;
  const std::vector<double>* cuts_ = nullptr;
  const DateEncoding* dates_ = nullptr;
  int64_t first_period_ = 0;  // of dates
  const PartEncoding* part_ = nullptr;
  // Of a mean, unless they are integers; with the double of both ends, and of one unit's inverse.
  const MeanEncoding* numbers_of_mean_ = nullptr;
  double low_ = 0;
  double high_ = 0;
  double units_ = 1;
  std::optional<TextPlaces> places_;  // of listed values
  // The listed values that are numbers, each written in the one way of CanonicalDecimal, and their
  // cells.
  std::vector<std::string> numbers_;
  std::vector<int64_t> number_cells_;
  std::optional<TextPlaces> number_places_;
  std::optional<int64_t> other_cell_;
};

// Inline, because a column has millions of values.
inline FoundCell CellFinder::FindInteger(int64_t value) const {
  if (value < first_) return {0, Fault::kBelow};
  if (value > last_) return {last_ - first_, Fault::kAbove};
  return {value - first_};
}

inline FoundCell CellFinder::Find(int64_t value) const {
  RESIDUA_CHECK(is_integral());
  return FindInteger(value);
}

inline FoundCell CellFinder::Find(double value) const {
  RESIDUA_CHECK(is_number());
  if (std::isnan(value)) return {FoundCell::kNoCell, Fault::kNan};
  if (numbers_of_mean_ != nullptr) return FindStep(value);
  if (cuts_ != nullptr) {
    return {std::lower_bound(cuts_->begin(), cuts_->end(), value) - cuts_->begin()};
  }
  if (value >= kTwoTo63) return {last_ - first_, Fault::kAbove};
  if (value < -kTwoTo63) return {0, Fault::kBelow};
  const FoundCell below = FindInteger(static_cast<int64_t>(std::floor(value)));
  return value == std::trunc(value) ? below : FoundCell{below.cell, Fault::kNotInteger};
}

inline FoundCell CellFinder::Find(std::string_view value) const {
  if (places_) return FindListed(value);
  return is_number() ? FindNumberIn(value) : FindDateIn(value);
}

inline FoundCell CellFinder::FindListed(std::string_view value) const {
  const int32_t place = places_->Find(value);
  return place == TextPlaces::kNone ? FindUnlisted(value) : FoundCell{place};
}

}  // namespace residua
