#include "residua/data/value_encoder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "residua/base/error.h"
#include "residua/base/number_text.h"
#include "residua/base/shown_text.h"
#include "residua/measure/encoded_table.h"

namespace residua {
namespace {

using Fault = FoundCell::Fault;

// How many different values outside are remembered for one attribute.
constexpr size_t kMaxTallied = 1000;

Phrase NullCell() { return {Phrase::Kind::kSetting, {"null", "true"}}; }

Phrase Outside(std::string_view policy) {
  return {Phrase::Kind::kSetting, {"outside", fmt::format("\"{}\"", policy)}};
}

bool ListsTruthOnly(const Encoding& encoding) {
  const auto* list = std::get_if<ValueEncoding>(&encoding.cells);
  return list != nullptr && std::ranges::all_of(list->values, [](const std::string& value) {
           return value == "true" || value == "false";
         });
}

// True and False of Python, TRUE and FALSE of R and spreadsheets, as a spec writes them; any other
// text as it is.
std::string_view AsTruth(std::string_view text) {
  if (text == "True" || text == "TRUE") return "true";
  if (text == "False" || text == "FALSE") return "false";
  return text;
}

}  // namespace

StoppingValues StoppingValuesOf(const Encoding& encoding) {
  const bool is_listed = std::holds_alternative<ValueEncoding>(encoding.cells);
  // Every number has a cell between cuts, and every date has its part.
  const bool is_total = std::holds_alternative<CutEncoding>(encoding.cells) ||
                        std::holds_alternative<PartEncoding>(encoding.cells);
  const bool is_error = encoding.outside == OutsidePolicy::kError;
  // Clamping needs a number or a date.
  const bool is_clamp = encoding.outside == OutsidePolicy::kClamp;
  StoppingValues stopping;
  stopping.outside = is_error && !is_total;
  stopping.unreadable = !is_listed && (is_error || (is_clamp && !encoding.null_cell));
  stopping.missing = !encoding.null_cell && encoding.outside != OutsidePolicy::kDrop;
  return stopping;
}

ValueEncoder::ValueEncoder(const Attribute& attribute, std::string file,
                           OutsideValues outside_values)
    : attribute_(attribute),
      file_(std::move(file)),
      outside_values_(outside_values),
      stopping_(StoppingValuesOf(attribute.encoding)),
      lists_truth_only_(ListsTruthOnly(attribute.encoding)),
      finder_(attribute_) {
  EmptyCodeColumn(attribute_);  // refuses what is too large to code
}

int32_t ValueEncoder::Encode(int64_t value, int64_t row) {
  const FoundCell found = finder_.Find(value);
  if (found.is_found()) return static_cast<int32_t>(found.cell);
  return Place(found, {fmt::format("{}", value), row});
}

int32_t ValueEncoder::Encode(double value, int64_t row) {
  const FoundCell found = finder_.Find(value);
  if (found.is_found()) return static_cast<int32_t>(found.cell);
  if (found.fault == Fault::kNan) return EncodeMissing(row);
  return Place(found, {fmt::format("{}", value), row});
}

int32_t ValueEncoder::Encode(std::string_view value, int64_t row) {
  return EncodeFound(finder_.Find(lists_truth_only_ ? AsTruth(value) : value), value, row);
}

int32_t ValueEncoder::EncodeNumberText(std::string_view value, int64_t row) {
  const bool is_listed = std::holds_alternative<ValueEncoding>(attribute_.encoding.cells);
  return EncodeFound(is_listed ? finder_.FindListedNumber(value) : finder_.Find(value), value, row);
}

int32_t ValueEncoder::EncodeFound(const FoundCell& found, std::string_view value, int64_t row) {
  if (found.is_found()) return static_cast<int32_t>(found.cell);
  if (found.fault == Fault::kNan) return EncodeMissing(row);
  const bool is_number = found.fault == Fault::kBelow || found.fault == Fault::kAbove;
  return Place(
      found,
      {is_number ? ShownText(TrimmedNumber(value)) : fmt::format("'{}'", ShownText(value)), row});
}

int32_t ValueEncoder::EncodeMissing(int64_t row) { return PlaceMissing({"", row}); }

int32_t ValueEncoder::EncodeUnseen(const FoundCell& found, int64_t num_rows) {
  if (found.is_found()) return static_cast<int32_t>(found.cell);
  const Sighting sighting{"", 0, num_rows};
  return found.fault == Fault::kNan ? PlaceMissing(sighting) : Place(found, sighting);
}

int32_t ValueEncoder::PlaceMissing(const Sighting& sighting) {
  report_.num_missing += sighting.num_rows;
  if (attribute_.encoding.null_cell) return NullCode();
  if (!stopping_.missing) {
    report_.num_dropped += sighting.num_rows;
    return kDropRow;
  }
  if (outside_values_ == OutsideValues::kTally) {
    if (!report_.first_error) report_.first_error = MissingError(sighting);
    return kDropRow;
  }
  throw MissingError(sighting);
}

Error ValueEncoder::MissingError(const Sighting& sighting) const {
  const std::string where =
      sighting.is_seen() ? fmt::format("row {}", sighting.row) : "at least one row";
  return ErrorOf(ErrorKind::kBadInput, "{}: column '{}' has no value in {}; set {} or {} for {}",
                 file_, ShownText(ColumnOf(attribute_)), where, NullCell(), Outside("drop"),
                 SpecKey(attribute_));
}

bool ValueEncoder::Stops(const FoundCell& found) const {
  const bool is_readable = found.cell != FoundCell::kNoCell || found.fault == Fault::kNotListed;
  return is_readable ? stopping_.outside : stopping_.unreadable;
}

void ValueEncoder::Tally(const FoundCell& found, const Sighting& sighting) {
  report_.num_outside += sighting.num_rows;
  if (const auto known = report_.outside.find(std::string(sighting.shown_value));
      known != report_.outside.end()) {
    ++known->second;
  } else if (sighting.is_seen() && report_.outside.size() < kMaxTallied) {
    report_.outside.emplace(sighting.shown_value, 1);
  }
  if (Stops(found) && !report_.first_error) report_.first_error = OutsideError(found, sighting);
}

int32_t ValueEncoder::Place(const FoundCell& found, const Sighting& sighting) {
  if (outside_values_ == OutsideValues::kTally) Tally(found, sighting);
  if (Stops(found)) {
    if (outside_values_ == OutsideValues::kTally) return kDropRow;
    throw OutsideError(found, sighting);
  }
  if (attribute_.encoding.outside == OutsidePolicy::kDrop) {
    report_.num_dropped += sighting.num_rows;
    return kDropRow;
  }
  if (attribute_.encoding.outside == OutsidePolicy::kClamp && found.cell != FoundCell::kNoCell) {
    report_.num_clamped += sighting.num_rows;
    return static_cast<int32_t>(found.cell);
  }
  if (attribute_.encoding.outside == OutsidePolicy::kOther) {
    return static_cast<int32_t>(NumValueCells(attribute_) - 1);
  }
  RESIDUA_CHECK(attribute_.encoding.null_cell);
  report_.num_nulled += sighting.num_rows;
  return NullCode();
}

int32_t ValueEncoder::NullCode() const { return static_cast<int32_t>(NumCodes(attribute_) - 1); }

Error ValueEncoder::OutsideError(const FoundCell& found, const Sighting& sighting) const {
  const bool is_coded = std::holds_alternative<std::monostate>(attribute_.encoding.cells);
  const auto* dates = std::get_if<DateEncoding>(&attribute_.encoding.cells);
  const MeanEncoding* mean = MeanOf(attribute_);
  std::string problem;
  std::string other_remedy;
  switch (found.fault) {
    case Fault::kNone:
    case Fault::kNan:
      RESIDUA_CHECK(false);
    case Fault::kBelow:
    case Fault::kAbove:
      if (dates != nullptr) {
        problem =
            fmt::format("outside {} to {}", DayText(dates->first_day), DayText(dates->last_day));
        other_remedy = "widen dates";
        break;
      }
      if (mean != nullptr && !mean->is_integers) {
        problem = fmt::format("outside {}..{}", DecimalText(mean->low, mean->decimals),
                              DecimalText(mean->high, mean->decimals));
        other_remedy = "widen numbers";
        break;
      }
      problem = fmt::format("outside {}..{}", finder_.first(), finder_.last());
      other_remedy = is_coded ? "give it more cells" : "widen integers";
      break;
    case Fault::kNotInteger:
      problem = "not an integer";
      other_remedy = mean != nullptr ? "give it numbers with a step instead of integers"
                                     : "give it cuts or values instead of integers";
      break;
    case Fault::kNotNumber:
      problem = "not a number";
      other_remedy = mean != nullptr ? "convert it in a query" : "give it values instead of cuts";
      break;
    case Fault::kNotListed:
      problem = "not among its values";
      other_remedy = "add it to values";
      break;
    case Fault::kNotDate:
      problem = "not a date like 2013-01-31 or 2013-01-31 23:59";
      other_remedy = "convert it in a query";
      break;
    case Fault::kNoTime:
      problem = "a date without a time";
      other_remedy = "choose another part";
      break;
  }
  const std::string column = ShownText(ColumnOf(attribute_));
  const std::string value =
      sighting.is_seen()
          ? fmt::format("the value {} (row {}), {}", sighting.shown_value, sighting.row, problem)
          : fmt::format("a value that is {}", problem);
  if (attribute_.encoding.outside == OutsidePolicy::kClamp) {
    return ErrorOf(ErrorKind::kBadInput, "{}: column '{}' has {}; set {} or {} for {}, or {}",
                   file_, column, value, NullCell(), Outside("drop"), SpecKey(attribute_),
                   other_remedy);
  }
  const bool can_clamp = found.cell != FoundCell::kNoCell;
  const bool is_unlisted = found.fault == Fault::kNotListed;
  const std::string_view policy = can_clamp ? "clamp" : (is_unlisted ? "other" : "drop");
  const Words remedy =
      Joined({WordsOf("set {}{} or \"null\"", Outside(policy),
                      can_clamp || is_unlisted ? ", \"drop\"" : ""),
              attribute_.encoding.null_cell ? Words() : WordsOf(" (with {})", NullCell()),
              WordsOf(" for {}, or {}", SpecKey(attribute_), other_remedy)});
  return Error(ErrorKind::kBadInput, WordsOf("{}", file_),
               WordsOf("column '{}' has {}", column, value), remedy);
}

}  // namespace residua
