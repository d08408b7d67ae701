#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "residua/base/enum_texts.h"
#include "residua/base/error.h"
#include "residua/model/date.h"
#include "residua/model/mean_encoding.h"

namespace residua {

// What happens to a value that has no cell.
enum class OutsidePolicy { kError, kClamp, kDrop, kNull, kOther };

inline constexpr EnumTexts<OutsidePolicy, 5> kOutsidePolicies = {
    {{OutsidePolicy::kError, "error"},
     {OutsidePolicy::kClamp, "clamp"},
     {OutsidePolicy::kDrop, "drop"},
     {OutsidePolicy::kNull, "null"},
     {OutsidePolicy::kOther, "other"}}};

// The label of the cell that OutsidePolicy::kOther adds.
inline constexpr std::string_view kOtherLabel = "other";

// One cell for each integer of [first, last].
struct IntegerEncoding {
  int64_t first = 0;
  int64_t last = 0;
  bool operator==(const IntegerEncoding&) const = default;
};

// Cells (-inf, cuts[0]], (cuts[0], cuts[1]], ..., (cuts.back(), inf); `cuts` strictly increasing.
struct CutEncoding {
  std::vector<double> cuts;
  bool operator==(const CutEncoding&) const = default;
};

// One cell for each listed value, compared as text; with OutsidePolicy::kOther, one more for all
// other values.
struct ValueEncoding {
  std::vector<std::string> values;
  bool operator==(const ValueEncoding&) const = default;
};

// One cell for each period that has a day of [first_day, last_day].
struct DateEncoding {
  int64_t first_day = 0;
  int64_t last_day = 0;
  DateStep every = DateStep::kDay;
  bool operator==(const DateEncoding&) const = default;
};

// One cell for each weekday, hour or month of the year.
struct PartEncoding {
  DatePart part = DatePart::kWeekday;
  bool operator==(const PartEncoding&) const = default;
};

// How a column's values become cells 0..size-1. With `null_cell`, missing values have the last
// cell. std::monostate: a bare size, for planning without data.
struct Encoding {
  std::variant<std::monostate, IntegerEncoding, CutEncoding, ValueEncoding, DateEncoding,
               PartEncoding, MeanEncoding>
      cells;
  bool null_cell = false;
  OutsidePolicy outside = OutsidePolicy::kError;
  bool operator==(const Encoding&) const = default;
};

// What is wrong with an encoding, and in which setting of its attribute.
struct EncodingFault {
  // "integers", "cuts", "values", "dates", "numbers", "step", "null" or "outside"
  std::string_view setting;
  std::optional<size_t> item;  // of the list of cuts or values
  Error error;                 // its problem follows the setting: "lists 'north' twice"
};

// The first fault, if there is one. Without a fault, integers are an increasing range of at most
// Domain::kMaxAttributeSize, numbers of a mean one of at most kMaxMeanSteps whole steps, cuts are
// finite and increase, each value is listed once, dates are an
// increasing range, missing and other values share no label with a listed one, and the policy for
// values outside can be followed.
std::optional<EncodingFault> FindFault(const Encoding& encoding);

// The number of cells, the null cell included, of an encoding without a fault; none for a bare
// size. Numbers of which a mean is asked have two, however many they are.
std::optional<int64_t> NumCells(const Encoding& encoding);

// Error{kBadInput} "KEY.SETTING PROBLEM" if the encoding has a fault, or does not have `size`
// cells. `key` names the attribute.
void CheckEncoding(const Encoding& encoding, int64_t size, std::string_view key);

}  // namespace residua
