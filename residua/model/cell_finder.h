#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/model/attribute.h"
#include "residua/model/text_places.h"

namespace residua {

// The cell of a value, or why it has none.
struct FoundCell {
  enum class Fault { kNone, kBelow, kAbove, kNotInteger, kNotNumber, kNotListed };
  static constexpr int64_t kNoCell = -1;

  // With a fault, the cell that clamping puts the value into: that of the nearest end or, for a
  // fraction, of the whole number below. What is not a number, or not listed, has no such cell.
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

  // Integers are for integer encodings and bare codes, numbers for those and cuts. Text is for all
  // encodings: it is read as a number unless values are listed.
  FoundCell Find(int64_t value) const;
  FoundCell Find(double value) const;
  FoundCell Find(std::string_view value) const;

  // The smallest and the largest value of integers and bare codes.
  int64_t first() const { return first_; }
  int64_t last() const { return last_; }

 private:
  using Fault = FoundCell::Fault;

  bool is_integral() const { return cuts_ == nullptr && !places_; }
  FoundCell FindInteger(int64_t value) const;
  FoundCell FindNumberIn(std::string_view text) const;
  FoundCell NotNumber() const {
    return {FoundCell::kNoCell, cuts_ == nullptr ? Fault::kNotInteger : Fault::kNotNumber};
  }

  int64_t first_ = 0;
  int64_t last_ = 0;
  const std::vector<double>* cuts_ = nullptr;
  std::optional<TextPlaces> places_;  // of listed values
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
  RESIDUA_CHECK(!places_);
  if (std::isnan(value)) return NotNumber();
  if (cuts_ != nullptr) {
    return {std::lower_bound(cuts_->begin(), cuts_->end(), value) - cuts_->begin()};
  }
  if (value >= kTwoTo63) return {last_ - first_, Fault::kAbove};
  if (value < -kTwoTo63) return {0, Fault::kBelow};
  const FoundCell below = FindInteger(static_cast<int64_t>(std::floor(value)));
  return value == std::trunc(value) ? below : FoundCell{below.cell, Fault::kNotInteger};
}

inline FoundCell CellFinder::Find(std::string_view value) const {
  if (!places_) return FindNumberIn(value);
  const int32_t place = places_->Find(value);
  if (place == TextPlaces::kNone) return {FoundCell::kNoCell, Fault::kNotListed};
  return {place};
}

}  // namespace residua
