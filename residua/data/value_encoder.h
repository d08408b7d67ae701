#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "residua/base/error.h"
#include "residua/model/attribute.h"
#include "residua/model/cell_finder.h"

namespace residua {

// What reading did to the values of one attribute that had no cell of their own. True counts of the
// data: for the curator's eyes, not for publication.
struct AttributeReport {
  int64_t num_dropped = 0;  // values for which their row was left out
  int64_t num_clamped = 0;  // moved to the nearest end of integers or dates, or to the one below
  int64_t num_nulled = 0;   // values outside, put into the null cell
  int64_t num_missing = 0;  // whatever was done with them
  // With kTally only:
  int64_t num_outside = 0;
  std::map<std::string, int64_t> outside;  // some of the different values, with their counts
  std::optional<Error> first_error;        // what would stop a measurement
};

// Which values stop a measurement. Whoever sees it stop learns that there is such a value. If all
// are false, nothing that a row contains stops a measurement (but see mass_drop.h).
struct StoppingValues {
  bool outside = false;     // beyond the integers or dates, or between integers; not listed
  bool unreadable = false;  // text, where numbers or dates are counted
  bool missing = false;     // NaN too

  bool any() const { return outside || unreadable || missing; }
};
StoppingValues StoppingValuesOf(const Encoding& encoding);

// What to do with a value that has no cell. kPlace follows the attribute's policy. kTally does the
// same and counts the value, and leaves its row out where the policy is to stop.
enum class OutsideValues { kPlace, kTally };

// Maps the values of one column to cells, by the attribute's encoding and its policy for values
// that have none. The first value that the policy does not cover gives Error{kBadInput}, which
// names the file, the column, the value, the row and the remedy. It counts what it does: one thread
// at a time uses it.
class ValueEncoder {
 public:
  static constexpr int32_t kDropRow = -1;

  // The attribute is one of a Domain, so that its encoding has no fault. `file` names the source in
  // messages.
  ValueEncoder(const Attribute& attribute, std::string file,
               OutsideValues outside_values = OutsideValues::kPlace);
  ValueEncoder(const ValueEncoder&) = delete;
  ValueEncoder& operator=(const ValueEncoder&) = delete;

  // The code of a value in row `row` (counted from 1), which is its cell or, of a mean, its number;
  // or kDropRow.
  int32_t Encode(int64_t value, int64_t row);
  int32_t Encode(double value, int64_t row);
  // Where true and false are listed and nothing else, True and TRUE are true, and so on.
  int32_t Encode(std::string_view value, int64_t row);
  // The text of a number: 1.0 is a listed 1.
  int32_t EncodeNumberText(std::string_view value, int64_t row);
  int32_t EncodeMissing(int64_t row);
  // The same for the values of `num_rows` rows that stay elsewhere: no message shows one of them.
  int32_t EncodeUnseen(const FoundCell& found, int64_t num_rows);

  const AttributeReport& report() const { return report_; }

 private:
  int32_t EncodeFound(const FoundCell& found, std::string_view value, int64_t row);
  int32_t NullCode() const;
  // What is known of a value, and how many rows have it. No text: it stays elsewhere.
  struct Sighting {
    std::string_view shown_value;
    int64_t row = 0;
    int64_t num_rows = 1;

    bool is_seen() const { return row > 0; }
  };

  int32_t PlaceMissing(const Sighting& sighting);
  int32_t Place(const FoundCell& found, const Sighting& sighting);
  bool Stops(const FoundCell& found) const;
  void Tally(const FoundCell& found, const Sighting& sighting);
  // The errors for values that stop a measurement.
  Error MissingError(const Sighting& sighting) const;
  Error OutsideError(const FoundCell& found, const Sighting& sighting) const;

  const Attribute attribute_;
  const std::string file_;
  const OutsideValues outside_values_;
  const StoppingValues stopping_;
  const bool lists_truth_only_;
  const CellFinder finder_;
  AttributeReport report_;
};

}  // namespace residua
